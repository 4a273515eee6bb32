import { expect, test } from 'vitest';
import { ceilNanos, parseQuantity } from './quantity.ts';

test.each([
  ['4', 4_000_000_000n],
  ['1930m', 1_930_000_000n],
  ['3.92', 3_920_000_000n],
  ['.5', 500_000_000n],
  ['5.', 5_000_000_000n],
  ['1e3', 1_000_000_000_000n],
  ['1E3', 1_000_000_000_000n],
  ['25e-1', 2_500_000_000n],
  ['2k', 2_000_000_000_000n],
  ['1Ki', 1_024_000_000_000n],
  ['1E', 10n ** 27n],
  ['7n', 7n],
  ['1.5n', 2n],
  ['-2', -2_000_000_000n],
  ['0', 0n],
])('%s', (text, nanos) => {
  expect(parseQuantity(text)).toBe(nanos);
});

test.each(['', 'm', '.', '1x', '1 ', '1mm', '0x10', '1e', '1e999', '--1'])('refuses %j', (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});

test('rounds up', () => {
  expect([0n, 1n, 10n ** 9n, 10n ** 9n + 1n].map(ceilNanos)).toEqual([0, 1, 1, 2]);
});
