import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryObjects } from '../testing/arbitrary-objects.ts';
import { isClusterObject } from './object-check.ts';

const service = { kind: 'Service', namespace: 'a', name: 'b', address: { kind: 'headless' }, ports: [] };
const endpoints = { kind: 'Endpoints', namespace: 'a', name: 'b', service: 'b', groups: [] };

describe('the check of objects', () => {
  it('lets every object through', () => {
    fc.assert(
      fc.property(arbitraryObjects, (objects) => {
        for (const object of objects) expect(isClusterObject(JSON.parse(JSON.stringify(object)))).toBe(true);
      }),
    );
  });

  it.each([
    [null],
    ['Service'],
    [{}],
    [{ ...service, kind: 'Node' }],
    [{ ...service, name: 1 }],
    [{ ...service, namespace: undefined }],
    [{ ...service, address: { kind: 'clusterIPs', addresses: [1] } }],
    [{ ...service, address: { kind: 'clusterIPs' } }],
    [{ ...service, address: { kind: 'externalName' } }],
    [{ ...service, address: undefined }],
    [{ ...service, ports: [{ name: 'http', protocol: 'TCP', port: 65_536 }] }],
    [{ ...service, ports: [{ name: 'http', port: 80 }] }],
    [{ ...endpoints, service: undefined }],
    [{ ...endpoints, groups: [{ addresses: [{ address: 1 }], ports: [] }] }],
    [{ ...endpoints, groups: [{ addresses: [], ports: {} }] }],
    [{ kind: 'Pod', namespace: 'a', name: 'b', addresses: 'c' }],
  ])('stops %j', (value) => expect(isClusterObject(value)).toBe(false));

  it('stops anything at random without throwing', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(isClusterObject(value)).toBe(false);
      }),
    );
  });
});
