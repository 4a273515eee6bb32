/**
 * Endpoints of services without a selector have reverse names only in the ranges of pods and nodes, where these are known.
 */
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import type {
  EndpointsObject,
  NodeRangesObject,
  ServiceObject,
} from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const PORTS = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
const RANGES = [
  { address: '10.244.0.0', prefix: 16 },
  { address: 'fd00:244::', prefix: 32 },
];
const ADDRESSES = ['10.244.0.1', '10.244.0.2', '203.0.113.7', '203.0.113.8', '10.96.0.1'];
const isInside = (address: string): boolean => address.startsWith('10.244.');

const service = (name: string, selects: boolean, ownAddress?: string): ServiceObject => ({
  kind: 'Service',
  namespace: 'blue',
  name,
  selects,
  ports: PORTS,
  address: ownAddress === undefined ? { kind: 'headless' } : { kind: 'clusterIPs', addresses: [ownAddress] },
});

const slice = (of: string, addresses: readonly string[]): EndpointsObject => ({
  kind: 'Endpoints',
  namespace: 'blue',
  name: of,
  service: of,
  groups: [{ addresses: addresses.map((address) => ({ address, hostname: 'a' })), ports: PORTS }],
});

const reverse = (address: string): string => `${address.split('.').reverse().join('.')}.in-addr.arpa.`;

/** The names of an address, from the table, which the chain gives too. */
async function askNames(cluster: AskableCluster, name: string): Promise<readonly string[] | 'none'> {
  const asked = question(name, TYPE.PTR);
  const byTable = cluster.askTable(asked);
  const byChain = await cluster.askChain(asked);
  const names = byChain.answers.map(({ data }) => (data.kind === 'PTR' ? String(data.target) : '')).sort();
  if (byTable !== undefined) expect(byTable.header.rcode).toBe(byChain.header.rcode);
  return byChain.header.rcode === RCODE.NXDOMAIN ? 'none' : names;
}

const bounded = (): AskableCluster => new AskableCluster('coredns', { endpointRanges: RANGES });

describe('an endpoint outside the ranges', () => {
  const OUTSIDE = reverse('203.0.113.7');

  it('has no reverse name by a service without a selector, but has its other names', async () => {
    const cluster = bounded();
    cluster.list([service('web', false), slice('web', ['203.0.113.7', '10.244.0.1'])]);
    expect(await askNames(cluster, OUTSIDE)).toBe('none');
    // No name exists above it either.
    expect(await askNames(cluster, '113.0.203.in-addr.arpa.')).toBe('none');
    expect(await askNames(cluster, reverse('10.244.0.1'))).toEqual(['a.web.blue.svc.cluster.local.']);
    const answer = cluster.askTable(question('web.blue.svc.cluster.local.', TYPE.A));
    expect(answer?.answers).toHaveLength(2);
  });

  it('has one where ranges are not known', async () => {
    const cluster = new AskableCluster('coredns');
    cluster.list([service('web', false), slice('web', ['203.0.113.7'])]);
    expect(await askNames(cluster, OUTSIDE)).toEqual(['a.web.blue.svc.cluster.local.']);
  });

  it('gets and loses it with the selector, whichever object comes first', async () => {
    const cluster = bounded();
    cluster.list([slice('web', ['203.0.113.7'])]);
    for (const selects of [true, false, true]) {
      cluster.upsert(service('web', selects));
      cluster.cluster.settle();
      expect(await askNames(cluster, OUTSIDE)).toEqual(selects ? ['a.web.blue.svc.cluster.local.'] : 'none');
    }
    cluster.cluster.services.remove('blue/web');
    expect(cluster.cluster.state().addresses).toBe(0);
  });
});

describe('any changes', () => {
  it('leave the names of a cluster that was listed at once', { timeout: 60_000 }, async () => {
    const addresses = fc.subarray(ADDRESSES);
    const name = fc.constantFrom('web', 'db');
    const event = fc.oneof(
      fc.record({
        kind: fc.constant('service' as const),
        name,
        selects: fc.boolean(),
        own: fc.constantFrom(undefined, ...ADDRESSES),
      }),
      fc.record({ kind: fc.constant('slice' as const), name, addresses }),
      fc.record({ kind: fc.constant('remove' as const), name, of: fc.constantFrom('services', 'endpoints') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (events) => {
        const lived = bounded();
        lived.list([]);
        const objects = new Map<string, ServiceObject | EndpointsObject>();
        for (const one of events) {
          if (one.kind === 'remove') {
            lived.cluster[one.of].remove(`blue/${one.name}`);
            objects.delete(`${one.of} ${one.name}`);
            continue;
          }
          const isService = one.kind === 'service';
          const object = isService ? service(one.name, one.selects, one.own) : slice(one.name, one.addresses);
          lived.upsert(object);
          objects.set(`${isService ? 'services' : 'endpoints'} ${one.name}`, object);
        }
        lived.cluster.settle();
        const fresh = bounded();
        fresh.list([...objects.values()]);
        for (const address of ADDRESSES) {
          const names = await askNames(lived, reverse(address));
          expect(names).toEqual(await askNames(fresh, reverse(address)));
          // The plain rule: only services that select, or have the address as their own, name one outside.
          if (names === 'none' || isInside(address)) continue;
          for (const target of names) {
            const [of] = target.replace(/^a\./, '').split('.');
            const named = objects.get(`services ${of}`);
            const isOwn = !target.startsWith('a.');
            expect(isOwn || (named?.kind === 'Service' && named.selects === true)).toBe(true);
          }
        }
        expect(lived.cluster.state().addresses).toBe(fresh.cluster.state().addresses);
      }),
      { numRuns: 25 },
    );
  });
});

describe('ranges that are learned from nodes', () => {
  const learning = (endpointRanges?: typeof RANGES): AskableCluster =>
    new AskableCluster('coredns', {
      nodes: { prefersZone: false, ownNode: undefined, boundsEndpoints: true },
      ...(endpointRanges && { endpointRanges }),
    });
  const node = (name: string, ...addresses: readonly string[]): NodeRangesObject => ({
    kind: 'NodeRanges',
    name,
    zone: undefined,
    ranges: addresses.map((address) => ({ address, prefix: address.endsWith('.0') ? 24 : 32 })),
  });
  const NAME = ['a.web.blue.svc.cluster.local.'];

  it('hold from when they are known, for what was listed before too', async () => {
    const cluster = learning();
    cluster.list([
      service('web', false),
      slice('web', ['203.0.113.7', '203.0.113.8']),
      service('db', true),
      slice('db', ['10.244.0.2']),
    ]);
    expect(await askNames(cluster, reverse('203.0.113.7'))).toBe('none');
    expect(await askNames(cluster, reverse('10.244.0.2'))).toEqual(['a.db.blue.svc.cluster.local.']);
    const { nodes } = cluster.cluster;
    nodes?.upsert(node('node-1', '203.0.113.7'));
    cluster.cluster.settle();
    expect(await askNames(cluster, reverse('203.0.113.7'))).toEqual(NAME);
    expect(await askNames(cluster, reverse('203.0.113.8'))).toBe('none');
    nodes?.upsert(node('node-1', '203.0.113.0'));
    cluster.cluster.settle();
    expect(await askNames(cluster, reverse('203.0.113.8'))).toEqual(NAME);
    nodes?.remove('node-1');
    cluster.cluster.settle();
    expect(await askNames(cluster, reverse('203.0.113.8'))).toBe('none');
    expect(await askNames(cluster, reverse('10.244.0.2'))).toEqual(['a.db.blue.svc.cluster.local.']);
    expect(cluster.cluster.state().addresses).toBe(1);
  });

  it('come beside those that are configured', async () => {
    const cluster = learning(RANGES);
    cluster.list([service('web', false), slice('web', ['203.0.113.7', '10.244.0.1'])]);
    expect(await askNames(cluster, reverse('10.244.0.1'))).toEqual(NAME);
    cluster.cluster.nodes?.upsert(node('node-1', '203.0.113.7'));
    cluster.cluster.settle();
    expect(await askNames(cluster, reverse('203.0.113.7'))).toEqual(NAME);
    expect(await askNames(cluster, reverse('10.244.0.1'))).toEqual(NAME);
  });

  it('judge a service of any size, in steps that others work between', async () => {
    const cluster = learning();
    const addresses = Array.from({ length: 2000 }, (_, index) => `203.0.${index >> 8}.${index & 255}`);
    cluster.list([service('web', false), slice('web', addresses)]);
    const { nodes } = cluster.cluster;
    const ranges = Array.from({ length: 8 }, (_, index) => `203.0.${index}.0`);
    nodes?.upsert(node('node-1', ...ranges));
    // The slice shrinks before the steps are done.
    cluster.upsert(slice('web', addresses.slice(0, 1000)));
    cluster.cluster.settle();
    expect(cluster.cluster.state().addresses).toBe(1000);
    nodes?.remove('node-1');
    cluster.cluster.settle();
    expect(cluster.cluster.state().addresses).toBe(0);
  });
});
