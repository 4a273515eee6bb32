import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseBase64 } from './base64.ts';

it('reads what octets are written as', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), (octets) => {
      expect(parseBase64(Buffer.from(octets).toString('base64'))).toEqual(Buffer.from(octets));
    }),
  );
});

it.each(['A', 'AA', 'AAA', 'AA=', 'AAA==', 'AAAA=', 'AA-_', 'AA AA', 'AAAA\n'])('refuses %j', (text) => {
  expect(parseBase64(text)).toBeUndefined();
});
