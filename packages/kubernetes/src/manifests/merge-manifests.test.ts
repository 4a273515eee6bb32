import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterObject } from '../objects/objects.ts';
import { MadeUpAddresses } from './made-up-addresses.ts';
import { mergeManifests } from './merge-manifests.ts';
import type { IpFamily, ManifestObject } from './parse-manifest.ts';

function service(name: string, addresses: readonly string[], file = 'a.yaml', line = 1): ManifestObject {
  const address = { kind: 'clusterIPs', addresses } as const;
  return {
    object: { kind: 'Service', namespace: 'shop', name, address, ports: [] },
    file,
    line,
    families: ['IPv4'],
  };
}

const merge = (found: readonly ManifestObject[], addresses = new MadeUpAddresses()) =>
  mergeManifests(found, addresses);
const listClusterIps = (objects: ReadonlyMap<string, ClusterObject>, name: string) => {
  const object = objects.get(`Service shop/${name}`);
  return object?.kind === 'Service' && object.address.kind === 'clusterIPs' ? object.address.addresses : [];
};

describe('merging', () => {
  it('implies the namespaces of objects', () => {
    expect([...merge([service('cart', ['10.0.0.1'])]).objects.keys()]).toEqual([
      'Namespace shop',
      'Service shop/cart',
    ]);
  });

  it('serves the first of two and says where the other stands', () => {
    const { objects, remarks } = merge([
      service('cart', ['10.0.0.1']),
      service('cart', ['10.0.0.2'], 'b.yaml', 9),
    ]);
    expect(listClusterIps(objects, 'cart')).toEqual(['10.0.0.1']);
    expect(remarks).toEqual([
      {
        message: 'object stands twice, the first is served',
        file: 'b.yaml',
        line: 9,
        object: 'Service shop/cart',
        detail: 'a.yaml:1',
      },
    ]);
  });

  it('takes one namespace declared twice for what it is', () => {
    const namespace = {
      object: { kind: 'Namespace', name: 'n' },
      file: 'a.yaml',
      line: 1,
      families: [],
    } as const;
    expect(merge([namespace, namespace]).remarks).toEqual([]);
  });
});

describe('made-up addresses', () => {
  it('are the same for everyone and named in a warning', () => {
    const { objects, remarks } = merge([service('cart', [])]);
    expect(listClusterIps(objects, 'cart')).toEqual(['10.100.162.113']);
    expect(remarks).toMatchObject([{ object: 'Service shop/cart', detail: '10.100.162.113' }]);
  });

  it('are of both families where the service asks for both', () => {
    const families: readonly IpFamily[] = ['IPv4', 'IPv6'];
    const { objects } = merge([{ ...service('cart', []), families }]);
    expect(listClusterIps(objects, 'cart')).toEqual(['10.100.162.113', 'fd00:10:96::5:a271']);
  });

  it('leave an address to the service that claims it', () => {
    const addresses = new MadeUpAddresses();
    expect(listClusterIps(merge([service('cart', [])], addresses).objects, 'cart')).toEqual([
      '10.100.162.113',
    ]);
    const both = merge([service('cart', []), service('thief', ['10.100.162.113'])], addresses);
    expect(listClusterIps(both.objects, 'cart')).toEqual(['10.100.162.114']);
  });

  it('are never given twice, and stay when others come and go', () => {
    const names = fc.uniqueArray(fc.integer({ min: 0, max: 3_000 }), { maxLength: 300 });
    fc.assert(
      fc.property(names, names, (before, after) => {
        const addresses = new MadeUpAddresses();
        const list = (numbers: readonly number[]) => numbers.map((number) => service(`s${number}`, []));
        const old = merge(list(before), addresses).objects;
        const now = merge(list(after), addresses).objects;
        const given = after.map((number) => listClusterIps(now, `s${number}`)[0]);
        expect(new Set(given).size).toBe(after.length);
        for (const number of after.filter((each) => before.includes(each)))
          expect(listClusterIps(now, `s${number}`)).toEqual(listClusterIps(old, `s${number}`));
      }),
      { numRuns: 30 },
    );
  });
});
