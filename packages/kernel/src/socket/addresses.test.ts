import { AddressError } from '@portolan/dns/address.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSocketAddress } from '../base/socket-address.ts';
import { decodeSocketAddress, encodeSocketAddress, isWildcard, toAddressFamily } from './addresses.ts';

describe('socket addresses', () => {
  it('are laid out as the kernel has them', () => {
    expect([...encodeSocketAddress({ address: '192.0.2.1', port: 53 })]).toEqual([
      2, 0, 0, 53, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
    expect([...encodeSocketAddress({ address: '2001:db8::1', port: 0x1234 })]).toEqual([
      10, 0, 0x12, 0x34, 0, 0, 0, 0, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
    ]);
    expect(encodeSocketAddress({ address: 'fe80::1%3', port: 53 }).at(24)).toBe(3);
  });

  it('come back as they went in', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(65_535), (address, port) => {
        const encoded = encodeSocketAddress({ address, port });
        const decoded = decodeSocketAddress(Uint8Array.of(...new Uint8Array(5), ...encoded), 5);
        expect(decoded.port).toBe(port);
        expect(toAddressFamily(decoded.address)).toBe(toAddressFamily(address));
        expect(encodeSocketAddress(decoded)).toEqual(encoded);
      }),
    );
    const zoned = { address: 'fe80::1%3', port: 53 };
    expect(decodeSocketAddress(encodeSocketAddress(zoned))).toEqual(zoned);
  });

  it.each(['', 'localhost', '1.2.3', '1.2.3.4%1', 'fe80::1%no-such-interface', '::g'])(
    'are not made of %j',
    (address) => {
      expect(() => encodeSocketAddress({ address, port: 53 })).toThrow(AddressError);
    },
  );

  it('are shown with brackets where they need them', () => {
    expect(formatSocketAddress({ address: '127.0.0.1', port: 53 })).toBe('127.0.0.1:53');
    expect(formatSocketAddress({ address: '::1', port: 53 })).toBe('[::1]:53');
  });

  it('are wildcards when all octets are zero', () => {
    expect(['0.0.0.0', '::', '0:0:0:0:0:0:0:0'].map(isWildcard)).toEqual([true, true, true]);
    expect(['0.0.0.1', '::1', 'nonsense'].map(isWildcard)).toEqual([false, false, false]);
  });
});
