import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressError, addressOfReverseName, formatAddress, parseAddress, reverseName } from './address.ts';
import { parseName, toKey } from './name.ts';

describe('parseAddress and formatAddress', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['::ffff:c000:201', '::ffff:192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ])('%s is %s', (text, canonical) => {
    const octets = parseAddress(text);
    expect(octets && formatAddress(octets)).toBe(canonical);
  });

  it.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '01.2.3.4',
    '1.2.3.4 ',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    ':1::',
    '12345::',
    'g::',
    '1.2.3.4::',
    '::1.2.3',
    '1:2:3:4:5:6:7:1.2.3.4',
    'fe80::1%eth0',
    `::${'0'.repeat(100)}`,
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('agree with Node on what an address is', () => {
    const piece = fc.constantFrom('0', '1', 'ff', 'abcd', ':', '::', '.', '255', '256', '1.2.3.4', 'g');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 18 }), (pieces) => {
        const text = pieces.join('');
        const octets = parseAddress(text);
        expect(octets?.length).toBe({ 0: undefined, 4: 4, 6: 16 }[isIP(text)]);
      }),
      { numRuns: 2000 },
    );
  });

  it('are each other’s reverse', () => {
    const octets = fc.oneof(
      fc.uint8Array({ minLength: 4, maxLength: 4 }),
      fc
        .array(fc.constantFrom(0, 0, 0, 1, 0xff), { minLength: 16, maxLength: 16 })
        .map((list) => Uint8Array.from(list)),
    );
    fc.assert(
      fc.property(octets, (address) => {
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
    );
  });
});

describe('reverse names', () => {
  it.each([
    ['10.1.2.3', '3.2.1.10.in-addr.arpa.'],
    ['2001:db8::a', `a.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa.`],
  ])('of %s is %s', (address, name) => {
    expect(reverseName(address)).toBe(name);
    expect(addressOfReverseName(reverseName(address))).toBe(address);
  });

  it('of what is no address does not exist', () => {
    expect(() => reverseName('10.1.2')).toThrow(AddressError);
  });

  it.each([
    'in-addr.arpa.',
    '2.1.10.in-addr.arpa.',
    '4.3.2.1.10.in-addr.arpa.',
    '256.2.1.10.in-addr.arpa.',
    '03.2.1.10.in-addr.arpa.',
    'a.3.2.1.10.in-addr.arpa.',
    '3.2.1.10.in-addr.arpa.example.',
    '0.8.b.d.0.1.0.0.2.ip6.arpa.',
    `g.${'0.'.repeat(31)}ip6.arpa.`,
    `00.${'0.'.repeat(31)}ip6.arpa.`,
    `0.${'0.'.repeat(32)}ip6.arpa.`,
    'ip6.arpa.',
  ])('do not include %s', (name) => {
    expect(addressOfReverseName(toKey(parseName(name)))).toBeUndefined();
  });
});
