import { formatAddress } from '@portolan/dns/address.ts';
import { type AddressRange, matchRange } from '@portolan/dns/address-range.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSocketAddress } from './addresses.ts';
import { ClientPrefixes } from './client-prefixes.ts';

const encodeAddress = (address: string) => encodeSocketAddress({ address, port: 53 });

describe('prefixes of clients', () => {
  it('hold an address by the longest of them', () => {
    const classes = new Map<AddressRange, number>([
      [{ address: '10.1.0.0', prefix: 16 }, 2],
      [{ address: '10.0.0.0', prefix: 8 }, 1],
      [{ address: '10.1.2.3', prefix: 32 }, 3],
      [{ address: 'fd00::', prefix: 8 }, 4],
    ]);
    const prefixes = new ClientPrefixes(classes, 9);
    const found = [
      '9.255.255.255',
      '10.0.0.0',
      '10.1.2.2',
      '10.1.2.3',
      '10.1.2.4',
      '10.2.0.0',
      '11.0.0.0',
      '::',
      'fcff::',
      'fd00::1',
      'fdff:ffff::',
      'fe00::',
      '255.255.255.255',
    ].map((address) => prefixes.find(encodeAddress(address), 0));
    expect(found).toEqual([9, 1, 2, 3, 2, 1, 9, 9, 9, 4, 4, 9, 9]);
  });

  it('that are equal let the last one count', () => {
    const all = { address: '0.0.0.0', prefix: 0 };
    const classes = new Map<AddressRange, number>([
      [all, 1],
      [{ ...all }, 2],
    ]);
    expect(new ClientPrefixes(classes, 0).find(encodeAddress('192.0.2.1'), 0)).toBe(2);
  });

  it('are found as a look at each of them would', () => {
    // Few bits vary, so that prefixes lie within each other.
    const octet = fc.constantFrom(0, 1, 128, 255);
    const address = fc.oneof(
      fc.tuple(octet, octet, fc.constant(0), octet).map((octets) => octets.join('.')),
      fc.tuple(octet, octet, octet).map((octets) => {
        const bytes = new Uint8Array(16);
        bytes.set(octets);
        bytes[15] = octets[0];
        return formatAddress(bytes);
      }),
    );
    const prefix = address.chain((text) =>
      fc.nat(text.includes(':') ? 128 : 32).map((bits) => ({ address: text, prefix: bits })),
    );
    fc.assert(
      fc.property(
        fc.array(prefix, { maxLength: 12 }),
        fc.array(address, { minLength: 5 }),
        (all, clients) => {
          const prefixes = new ClientPrefixes(new Map(all.map((one, index) => [one, index + 1])), 0);
          for (const client of clients) {
            const sockaddr = encodeAddress(client);
            const own = client.includes(':') ? sockaddr.subarray(8, 24) : sockaddr.subarray(4, 8);
            let expected = 0;
            for (const [index, range] of all.entries()) {
              if (!matchRange(range)(own)) continue;
              if (expected === 0 || range.prefix >= (all[expected - 1]?.prefix ?? 0)) expected = index + 1;
            }
            expect(prefixes.find(sockaddr, 0)).toBe(expected);
          }
        },
      ),
    );
  });
});
