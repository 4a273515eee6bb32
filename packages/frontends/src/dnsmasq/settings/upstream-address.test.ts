import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readUpstreamAddress } from './upstream-address.ts';

const ipv4 = { kind: 'address', address: '1.2.3.4' };

function readServer(text: string): unknown {
  const reading = readUpstreamAddress(text);
  return reading.kind === 'server' ? reading.server : reading.fault;
}

describe('an upstream server', () => {
  it.each([
    ['1.2.3.4', { host: ipv4, port: 53, source: undefined }],
    ['1.2.3.4#5353', { host: ipv4, port: 5353, source: undefined }],
    [
      'fe80::1%eth0#5353',
      { host: { kind: 'address', address: 'fe80::1%eth0' }, port: 5353, source: undefined },
    ],
    ['Dns.Example', { host: { kind: 'name', name: 'dns.example.' }, port: 53, source: undefined }],
    [
      '1.2.3.4@eth0',
      { host: ipv4, port: 53, source: { address: undefined, port: undefined, device: 'eth0' } },
    ],
    [
      '1.2.3.4#54@10.0.0.1#55',
      { host: ipv4, port: 54, source: { address: '10.0.0.1', port: 55, device: undefined } },
    ],
    [
      '1.2.3.4@eth0@10.0.0.1#55',
      { host: ipv4, port: 53, source: { address: '10.0.0.1', port: 55, device: 'eth0' } },
    ],
    [
      '1.2.3.4@',
      { host: ipv4, port: 53, source: { address: undefined, port: undefined, device: undefined } },
    ],
  ])('%s', (text, server) => {
    expect(readServer(text)).toEqual({ transport: 'udp', serverName: undefined, ...server });
  });

  it.each([
    ['1.2.3.4#x', 'not a port'],
    ['1.2.3.4#65536', 'not a port'],
    ['1.2.3.4@10.0.0.1#x', 'not a port'],
    ['1.2.3.4@::1', 'a source address of another family than the server'],
    ['1.2.3.4@eth0@eth1', 'not the address of an interface, which can be named only once'],
    ['1.2.3', 'neither an IP address nor the name of a host'],
    ['a/b', 'neither an IP address nor the name of a host'],
    ['', 'neither an IP address nor the name of a host'],
  ])('is refused: %s', (text, fault) => {
    expect(readServer(text)).toBe(fault);
  });

  it('leaves the family open where the server is a name', () => {
    expect(readServer('dns.example@::1')).toMatchObject({ source: { address: '::1' } });
  });

  it('is read from any text without throwing', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'1.:#@%ax é') }), (text) => {
        expect(['server', 'bad']).toContain(readUpstreamAddress(text).kind);
      }),
    );
  });
});
