import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOfReverseName, formatAddress, reverseName } from './address.ts';
import { encodeName, parseName, toKey } from './name.ts';
import { decodeReverseName, encodeReverseName } from './reverse-wire.ts';

const address = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
);

describe('reverse names in wire form', () => {
  it('are those in text form', () => {
    fc.assert(
      fc.property(address, (octets) => {
        const name = encodeReverseName(octets).slice();
        expect(name).toEqual(encodeName(reverseName(formatAddress(octets))));
        expect(decodeReverseName(name)).toEqual(octets);
      }),
    );
  });

  it('are whole addresses only, as in text form', () => {
    const label = fc.constantFrom('0', '1', '00', '01', '10', '255', '256', '1000', 'a', 'f', 'x', '-1');
    const suffix = fc.constantFrom('in-addr.arpa.', 'ip6.arpa.', 'arpa.', 'xin-addr.arpa.');
    const some = fc.tuple(fc.array(label, { maxLength: 6 }), suffix);
    const nibbles = fc.tuple(
      fc.array(fc.constantFrom('0', '9', 'a', 'f', 'g', '10'), { minLength: 32, maxLength: 32 }),
      suffix,
    );
    fc.assert(
      fc.property(fc.oneof(some, nibbles), ([labels, end]) => {
        const key = toKey(parseName([...labels, end].join('.')));
        const octets = decodeReverseName(encodeName(key));
        expect(octets && formatAddress(octets)).toBe(addressOfReverseName(key));
      }),
    );
  });
});
