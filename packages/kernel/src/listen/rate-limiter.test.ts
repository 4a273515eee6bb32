import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEBIT, makeRateLimiterMemory, RateLimiter } from './rate-limiter.ts';

const ACCOUNTS = 1024;

function makeLimiter({ accounts = ACCOUNTS, window = 0 } = {}): RateLimiter {
  return new RateLimiter(makeRateLimiterMemory(accounts), window);
}

interface Events {
  readonly key?: number;
  /** Milliseconds between two. */
  readonly interval?: number;
  readonly slip?: number;
  readonly now?: number;
}

/** What becomes of so many simultaneous events. */
function debit(limiter: RateLimiter, events: number, about: Events = {}): readonly number[] {
  const { key = 7, interval = 100, slip = 0, now = 1_000_000 } = about;
  return Array.from({ length: events }, () => limiter.debit(key, interval, slip, now));
}

const countWithin = (debits: readonly number[]) => debits.filter((each) => each === DEBIT.WITHIN).length;

describe('a rate', () => {
  it.each([1, 10, 1000])('of %i a second lets so many through at once, and in each second', (perSecond) => {
    const limiter = makeLimiter();
    for (let second = 100; second < 110; second++)
      expect(
        countWithin(debit(limiter, perSecond * 3, { interval: 1000 / perSecond, now: second * 1000 })),
      ).toBe(perSecond);
  });

  it.each([0, 15_000])('may be less than one in a second, with a window of %i ms', (window) => {
    const limiter = makeLimiter({ window });
    for (let hour = 1; hour < 4; hour++)
      expect(debit(limiter, 2, { interval: 2_000, now: hour * 3_600_000 })).toEqual([
        DEBIT.WITHIN,
        DEBIT.EXCEEDED,
      ]);
  });

  it('is one for all that share its memory, and one for each key', () => {
    const memory = makeRateLimiterMemory(ACCOUNTS);
    const one = new RateLimiter(memory, 0);
    const other = new RateLimiter(memory, 0);
    expect(countWithin([...debit(one, 6), ...debit(other, 6)])).toBe(10);
    expect(countWithin(debit(one, 6, { key: 8 }))).toBe(6);
  });

  it('is kept over any times, within a second’s worth', () => {
    const gaps = fc.array(fc.nat(400), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), gaps, fc.nat(20_000), (perSecond, waits, window) => {
        const limiter = makeLimiter({ window });
        let now = 1_000_000;
        let within = 0;
        for (const wait of waits) {
          now += wait;
          within += countWithin(debit(limiter, 1, { interval: 1000 / perSecond, now }));
        }
        const seconds = (now - 1_000_000) / 1000;
        expect(within).toBeLessThanOrEqual(Math.floor(seconds * perSecond) + perSecond + 1);
      }),
    );
  });
});

describe('an account with a window', () => {
  it('pays its debt first', () => {
    const limiter = makeLimiter({ window: 15_000 });
    debit(limiter, 11);
    expect(countWithin(debit(limiter, 20, { now: 1_001_000 }))).toBe(9);
  });

  it('is in debt for a window at most, and saves for a second at most', () => {
    const limiter = makeLimiter({ window: 15_000 });
    debit(limiter, 10_000);
    expect(debit(limiter, 1, { now: 1_014_900 })).toEqual([DEBIT.EXCEEDED]);
    expect(debit(limiter, 1, { now: 1_030_000 })).toEqual([DEBIT.WITHIN]);
    expect(countWithin(debit(limiter, 100, { now: 9_000_000 }))).toBe(10);
  });
});

it('lets every third that exceeds its rate slip, by key', () => {
  const limiter = makeLimiter();
  const { EXCEEDED, SLIPS } = DEBIT;
  expect(debit(limiter, 17, { slip: 3 }).slice(10)).toEqual([
    EXCEEDED,
    EXCEEDED,
    SLIPS,
    EXCEEDED,
    EXCEEDED,
    SLIPS,
    EXCEEDED,
  ]);
  expect(debit(limiter, 11, { slip: 3, key: 8 })[10]).toBe(EXCEEDED);
});

describe('a new key without a free place', () => {
  const filled = (window: number) => {
    const limiter = makeLimiter({ accounts: 3, window });
    for (const key of [1, 2, 3]) debit(limiter, 20, { key, now: 1_000_000 + key });
    return limiter;
  };

  it('takes that of the one that was quiet for longest, without a window', () => {
    const limiter = filled(0);
    expect(debit(limiter, 1, { key: 4, now: 1_000_004 })).toEqual([DEBIT.WITHIN]);
    expect(debit(limiter, 1, { key: 3, now: 1_000_005 })).toEqual([DEBIT.EXCEEDED]);
    // The first was replaced, so it starts from scratch.
    expect(debit(limiter, 1, { key: 1, now: 1_000_006 })).toEqual([DEBIT.WITHIN]);
  });

  it('is not limited, until one was quiet for a window', () => {
    const limiter = filled(15_000);
    expect(debit(limiter, 2, { key: 4, now: 1_000_010 })).toEqual([DEBIT.NO_ROOM, DEBIT.NO_ROOM]);
    debit(limiter, 1, { key: 1, now: 1_017_000 });
    expect(countWithin(debit(limiter, 20, { key: 4, now: 1_034_000 }))).toBe(10);
    expect(debit(limiter, 20, { key: 1, now: 1_034_000 })).toContain(DEBIT.EXCEEDED);
  });
});

it('limits nothing without accounts, and takes a key of 0', () => {
  expect(countWithin(debit(makeLimiter({ accounts: 1 }), 11, { key: 0 }))).toBe(10);
  expect(debit(makeLimiter({ accounts: 0 }), 1)).toEqual([DEBIT.NO_ROOM]);
});
