import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRateLimiterMemory, RateLimiter } from './rate-limiter.ts';

/** How many of these simultaneous events are within the rate. */
function countWithin(limiter: RateLimiter, key: number, now: number, events: number): number {
  let within = 0;
  for (let event = 0; event < events; event++) if (!limiter.exceeds(key, now)) within++;
  return within;
}

describe('a rate', () => {
  it.each([1, 10, 1000])('of %i a second lets so many through at once, and in each second', (perSecond) => {
    const limiter = new RateLimiter(makeRateLimiterMemory(), perSecond);
    for (let second = 100; second < 110; second++)
      expect(countWithin(limiter, 7, second * 1000, perSecond * 3)).toBe(perSecond);
  });

  it('is one for all that share its memory, and one for each key', () => {
    const memory = makeRateLimiterMemory();
    const one = new RateLimiter(memory, 10);
    const other = new RateLimiter(memory, 10);
    expect(countWithin(one, 7, 5000, 6) + countWithin(other, 7, 5000, 6)).toBe(10);
    expect(countWithin(one, 8, 5000, 6)).toBe(6);
  });

  it('is kept over any times, within a second’s worth', () => {
    const gaps = fc.array(fc.nat(400), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), gaps, (perSecond, waits) => {
        const limiter = new RateLimiter(makeRateLimiterMemory(), perSecond);
        let now = 1_000_000;
        let within = 0;
        for (const wait of waits) {
          now += wait;
          if (!limiter.exceeds(1, now)) within++;
        }
        const seconds = (now - 1_000_000) / 1000;
        expect(within).toBeLessThanOrEqual(Math.floor(seconds * perSecond) + perSecond + 1);
      }),
    );
  });

  it('of a key that was quiet for longest gives its place to a new one', () => {
    const limiter = new RateLimiter(makeRateLimiterMemory(), 1);
    // All keys belong to one set of four.
    const keys = [1, 2, 3, 4, 5].map((index) => index << 12);
    for (const [index, key] of keys.slice(0, 4).entries()) limiter.exceeds(key, 1000 + index);
    expect(limiter.exceeds(keys[4] ?? 0, 1010)).toBe(false);
    expect(limiter.exceeds(keys[3] ?? 0, 1010)).toBe(true);
    // The key was evicted, so it starts from scratch.
    expect(limiter.exceeds(keys[0] ?? 0, 1010)).toBe(false);
  });
});
