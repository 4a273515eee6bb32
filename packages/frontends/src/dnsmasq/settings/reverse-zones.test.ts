import { formatAddress, reverseName } from '@portolan/dns/address.ts';
import { isWithin } from '@portolan/dns/name.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeBounds } from './addresses.ts';
import { reverseZones } from './reverse-zones.ts';

describe('the zones of a network', () => {
  it.each([
    ['10.1.2.3', undefined, ['3.2.1.10.in-addr.arpa.']],
    ['10.1.2.3', 24, ['2.1.10.in-addr.arpa.']],
    ['10.1.2.3', 23, ['2.1.10.in-addr.arpa.', '3.1.10.in-addr.arpa.']],
    ['10.0.0.0', 8, ['10.in-addr.arpa.']],
    ['192.0.0.0', 6, ['192', '193', '194', '195'].map((octet) => `${octet}.in-addr.arpa.`)],
    ['2001:db8::', 32, ['8.b.d.0.1.0.0.2.ip6.arpa.']],
    ['2001:db8::', 31, ['8.b.d.0.1.0.0.2.ip6.arpa.', '9.b.d.0.1.0.0.2.ip6.arpa.']],
    ['10.0.0.0', 0, undefined],
    ['10.0.0.0', 33, undefined],
    ['::', 129, undefined],
  ])('%s/%s', (address, prefix, zones) => {
    expect(reverseZones(address, prefix)).toEqual(zones);
  });

  const octets = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }),
    fc.uint8Array({ minLength: 16, maxLength: 16 }),
  );

  it('hold its first and its last address, each in one of them', () => {
    fc.assert(
      fc.property(octets, fc.nat(127), (bytes, length) => {
        const address = formatAddress(bytes);
        const prefix = 1 + (length % (8 * bytes.length));
        const zones = reverseZones(address, prefix) ?? [];
        const { first, last } = computeBounds({ address, prefix });
        for (const end of [first, last, address])
          expect(zones.filter((zone) => isWithin(reverseName(end), zone))).toHaveLength(1);
      }),
    );
  });

  it('hold no neighbour of the network', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 32 }), fc.nat(0xffff_ffff), (prefix, number) => {
        const address = formatIpv4Address(number);
        const { first, last } = computeBounds({ address, prefix });
        const zones = reverseZones(address, prefix) ?? [];
        const neighbours = [toIpv4Number(first) - 1, toIpv4Number(last) + 1].filter(
          (at) => at >= 0 && at <= 0xffff_ffff,
        );
        for (const neighbour of neighbours)
          expect(zones.some((zone) => isWithin(reverseName(formatIpv4Address(neighbour)), zone))).toBe(false);
      }),
    );
  });
});

function formatIpv4Address(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

function toIpv4Number(address: string): number {
  return address.split('.').reduce((number, octet) => number * 256 + Number(octet), 0);
}
