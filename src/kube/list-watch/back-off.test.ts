import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BackOff } from './back-off.ts';
import { defaultTiming } from './timing.ts';

const { backOffShortest, backOffLongest, retryAfterLongest } = defaultTiming;

test('doubles up to its longest, and begins again after a success', () => {
  const backOff = new BackOff(defaultTiming, () => 0.999999);
  const waits = Array.from({ length: 9 }, () => Math.round(backOff.next()));
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  backOff.reset();
  expect(Math.round(backOff.next())).toBe(500);
});

test('stays within its bounds, and waits as long as the server asks but not forever', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.nat(2000),
      fc.nat(1e9),
      (random, failures, retryAfter) => {
        const backOff = new BackOff(defaultTiming, () => random);
        for (let count = 0; count < failures; count += 1) backOff.next();
        const wait = backOff.next(retryAfter);
        expect(wait).toBeGreaterThanOrEqual(
          Math.max(backOffShortest, Math.min(retryAfter, retryAfterLongest)),
        );
        expect(wait).toBeLessThanOrEqual(Math.max(backOffLongest, Math.min(retryAfter, retryAfterLongest)));
      },
    ),
  );
});
