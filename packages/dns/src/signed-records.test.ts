import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeTypeBitmap, encodeTypeBitmap } from './signed-records.ts';

it('a bitmap of types has the example of RFC 4034 section 4.3', () => {
  const bitmap = encodeTypeBitmap([1, 15, 46, 47, 1234]);
  expect(Buffer.from(bitmap).toString('hex')).toBe(`0006400100000003041b${'00'.repeat(26)}20`);
});

it('a bitmap of types is read as it was written', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 0xffff }), { maxLength: 40 }), (types) => {
      expect(decodeTypeBitmap(encodeTypeBitmap(types))).toEqual(types.toSorted((one, other) => one - other));
    }),
  );
});

it.each([
  ['a bitmap with a block that is cut', [0, 2, 1]],
  ['a bitmap with a block without bits', [0, 0]],
  ['a bitmap with blocks out of order', [1, 1, 1, 0, 1, 1]],
  ['a bitmap with a block that is too long', [0, 33, ...new Uint8Array(33)]],
])('%s is refused', (_, octets) => {
  expect(decodeTypeBitmap(Uint8Array.from(octets))).toBe(undefined);
});
