import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, parseAddress } from './address.ts';
import { readUsualAddress } from './address-octets.ts';

function read(text: string): Uint8Array | undefined {
  const into = new Uint8Array(16).fill(0xee);
  const octets = Buffer.from(`x${text}y`);
  const length = readUsualAddress(octets, 1, octets.length - 1, into);
  return length === 0 ? undefined : into.slice(0, length);
}

const part = fc.constantFrom(
  '0',
  '1',
  '00',
  '255',
  '256',
  '.',
  ':',
  '::',
  'f',
  'FFFF',
  'fe80',
  '%1',
  ' ',
  'g',
);

describe('an address in octets', () => {
  it('is what its text is, in the usual forms', () => {
    const octets = fc.uint8Array({ minLength: 16, maxLength: 16 });
    const sparse = octets.map((all) => all.map((octet, at) => (at % 3 === 0 ? octet : 0)));
    fc.assert(
      fc.property(
        fc.oneof(
          octets,
          sparse,
          octets.map((all) => all.slice(12)),
        ),
        (address) => {
          // Mapped addresses have dots in their text.
          fc.pre(!/:.*\./.test(formatAddress(address)));
          expect(read(formatAddress(address))).toEqual(new Uint8Array(address));
        },
      ),
    );
  });

  it('is never anything else than its text is', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const found = read(parts.join(''));
        if (found !== undefined) expect(found).toEqual(new Uint8Array(parseAddress(parts.join('')) ?? []));
      }),
      { numRuns: 2000, examples: [[[':', '1']], [['1', ':']], [['1', '::', '1', '::']], [['::']]] },
    );
  });
});
