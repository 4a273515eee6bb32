/**
 * Names as the package of the contract reads them, beside the server's own reading.
 */
import * as own from '@portolan/dns/name.ts';
import { isWithin, isWithinAny, type NameKey, namesWithin, toKey, toName } from '@portolan/plugin';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const label = fc.constantFrom(
  'a',
  'B',
  'x-1',
  '_tcp',
  '*',
  'a\\.b',
  '\\\\',
  '\\000',
  'l'.repeat(63),
  'é',
  '',
);
const text = fc
  .tuple(fc.array(label, { maxLength: 5 }), fc.constantFrom('', '.'))
  .map(([labels, end]) => labels.join('.') + end);

it('takes the same names, apart from the empty one', () => {
  fc.assert(
    fc.property(text, (given) => {
      fc.pre(given !== '');
      const read = own.tryParseName(given);
      if (read === undefined) expect(() => toName(given)).toThrow('not a name');
      else
        expect([own.parseName(toName(given)), toKey(given)]).toEqual([
          read,
          own.toKey(own.parseName(toName(given))),
        ]);
    }),
  );
});

it('finds the same names within others', () => {
  const name = text.map(own.tryParseKey).filter((key) => key !== undefined);
  fc.assert(
    fc.property(name, name, (one: NameKey, other: NameKey) => {
      const within = own.isWithin(one, other);
      expect(isWithin(one, other)).toBe(within);
      expect(isWithinAny(one, new Set([other]))).toBe(within);
      expect(namesWithin(new Set([other])).includes(one, 1)).toBe(within);
    }),
  );
});
