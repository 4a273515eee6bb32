import { describe, expect, it } from 'vitest';
import type { EndpointGroup, EndpointsObject, ServicePort } from '../objects/objects.ts';
import { canonicalAddress, canonicalAddresses, mergeEndpoints, toEndpoints } from './endpoints.ts';

const http: ServicePort = { name: 'http', protocol: 'TCP', port: 80 };
const dns: ServicePort = { name: 'dns', protocol: 'UDP', port: 53 };

function slice(name: string, ...groups: EndpointGroup[]): EndpointsObject {
  return { kind: 'Endpoints', namespace: 'blue', name, service: 'web', groups };
}

const group = (
  ports: readonly ServicePort[],
  ...addresses: (readonly [string, string?])[]
): EndpointGroup => ({
  addresses: addresses.map(([address, hostname]) => ({ address, hostname })),
  ports,
});

describe('endpoints of several slices', () => {
  const merge = (slices: readonly EndpointsObject[]) => mergeEndpoints(slices.map(toEndpoints));

  it('count once while they are in two slices, and have the ports of both', () => {
    const merged = merge([
      slice('web-1', group([http], ['10.0.0.1'], ['10.0.0.2'])),
      slice('web-2', group([dns, http], ['10.0.0.1'])),
    ]);
    expect(merged).toEqual([
      { address: '10.0.0.1', hostname: undefined, ports: [dns, http] },
      { address: '10.0.0.2', hostname: undefined, ports: [http] },
    ]);
  });

  it('are the same in whatever order the slices come', () => {
    const slices = [
      slice('web-1', group([http, dns], ['10.0.0.9'], ['10.0.0.1', 'a'])),
      slice('web-2', group([dns, http], ['10.0.0.1', 'a'], ['10.0.0.1', 'b'])),
      slice('web-3', group([], ['10.0.0.1', 'a'])),
    ];
    expect(merge(slices.toReversed())).toEqual(merge(slices));
  });

  it('are two where one address has two hostnames', () =>
    expect(merge([slice('web-1', group([], ['10.0.0.1', 'a'], ['10.0.0.1', 'b']))])).toHaveLength(2));

  it('are one where an IPv6 address is written in two ways', () =>
    expect(merge([slice('web-1', group([], ['FD00:0::1'], ['fd00::1']))])).toMatchObject([
      { address: 'fd00::1' },
    ]));

  it('are left out if their address is malformed', () =>
    expect(merge([slice('web-1', group([http], ['300.0.0.1'], ['']))])).toEqual([]));

  it('have no hostname where it cannot be a label', () =>
    expect(merge([slice('web-1', group([], ['10.0.0.1', 'not a label']))])).toMatchObject([
      { hostname: undefined },
    ]));
});

describe('canonical addresses', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['010.0.0.1', undefined],
    ['FD00:0:0::0001', 'fd00::1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['None', undefined],
    ['', undefined],
  ])('of %s: %s', (text, canonical) => expect(canonicalAddress(text)).toBe(canonical));

  it('are listed once each', () =>
    expect(canonicalAddresses(['10.0.0.1', 'fd00::1', 'None', 'FD00::1', '10.0.0.1'])).toEqual([
      '10.0.0.1',
      'fd00::1',
    ]));
});
