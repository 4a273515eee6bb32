/**
 * The load on the API server, in virtual time, when 5,000 replicas that follow three kinds of object each lose all their
 * watches at the same moment.
 *
 * Each follower is the retry policy itself. The server is a model that answers a fixed number of requests a second, refuses
 * others with `429` and `Retry-After: 1`, and has lost its history (`410` for the first watch).
 */
import type { Failure } from '@portolan/kubernetes/api/list-watch/failure.ts';
import {
  decideRetry,
  firstTry,
  type Outcome,
  type RetryMemory,
} from '@portolan/kubernetes/api/list-watch/retry-policy.ts';
import { defaultTiming } from '@portolan/kubernetes/api/list-watch/timing.ts';
import { describe, expect, test } from 'vitest';

const REPLICAS = 5_000;
const KINDS = 3;
const CAPACITY = 3_000;

/** What a follower does next, and after how many milliseconds. */
interface Follower {
  readonly next: 'watch' | 'list';
  fail(failure: Exclude<Failure, { kind: 'stopped' }>, now: number): number;
  listed(now: number): void;
}

type Random = () => number;

class PolicyFollower implements Follower {
  readonly #random: Random;
  #memory: RetryMemory = {
    ...firstTry,
    isEstablished: true,
    step: { kind: 'watch' },
    streamRefusedAt: 0,
  };

  constructor(random: Random) {
    this.#random = random;
  }

  get next(): 'watch' | 'list' {
    return this.#memory.step.kind === 'watch' ? 'watch' : 'list';
  }

  fail(failure: Exclude<Failure, { kind: 'stopped' }>, now: number): number {
    const { min, max } = this.#decide({ kind: 'failed', failure, watched: 0, pages: 0 }, now);
    return min + this.#random() * (max - min);
  }

  listed(now: number): void {
    this.#decide({ kind: 'listed' }, now);
  }

  #decide(outcome: Outcome, now: number) {
    const settings = { timing: defaultTiming, versions: 1, isSingle: false };
    const { memory, wait } = decideRetry(this.#memory, outcome, now, settings);
    this.#memory = memory;
    return wait;
  }
}

/** The policy of release 0.1.0: no spread at the first retry, after a 410 and on Retry-After. */
class FormerFollower implements Follower {
  readonly #random: Random;
  #failures = 0;
  next: 'watch' | 'list' = 'watch';

  constructor(random: Random) {
    this.#random = random;
  }

  fail(failure: Exclude<Failure, { kind: 'stopped' }>): number {
    if (failure.kind === 'expired') {
      this.next = 'list';
      this.#failures += 1;
      return 0;
    }
    const full = Math.min(30_000, 500 * 2 ** this.#failures);
    this.#failures += 1;
    const jittered = Math.max(500, full * (0.5 + this.#random() / 2));
    return Math.max(jittered, 'retryAfter' in failure ? (failure.retryAfter ?? 0) : 0);
  }

  listed(): void {
    this.next = 'watch';
  }
}

/** A generator of numbers that is the same in every run (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Load {
  /** Requests within the busiest tenth of a second. */
  readonly perTenth: number;
  readonly refused: number;
  /** Seconds until 99 of 100 followers, and the last one, were current again. */
  readonly p99: number;
  readonly last: number;
}

function simulate(make: (random: Random) => Follower, outage: number): Load {
  const random = seeded(4711);
  /** Tries by the millisecond they are made in. */
  const due = new Map<number, { follower: Follower; hasListed: boolean }[]>();
  const plan = (at: number, one: { follower: Follower; hasListed: boolean }) => {
    const slot = due.get(Math.round(at));
    if (slot === undefined) due.set(Math.round(at), [one]);
    else slot.push(one);
  };
  const lost = { kind: 'network', words: 'reset' } as const;
  const refusedConnection = { kind: 'unreachable', words: 'ECONNREFUSED' } as const;
  const tooMany = { kind: 'server', words: '429', retryAfter: 1_000 } as const;
  const gone = { kind: 'expired', why: 'too-old', words: '410' } as const;
  for (let count = 0; count < REPLICAS * KINDS; count += 1) {
    const follower = make(random);
    plan(follower.fail(lost, 0), { follower, hasListed: false });
  }
  const tenths: number[] = [];
  const current: number[] = [];
  let refused = 0;
  for (let now = 0; current.length < REPLICAS * KINDS && now < 600_000; now += 1) {
    // What is planned for this very moment is done in it.
    for (const one of due.get(now) ?? []) {
      const { follower } = one;
      if (now < outage) {
        plan(now + Math.max(1, follower.fail(refusedConnection, now)), one);
        continue;
      }
      const tenth = Math.floor(now / 100);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
      if ((tenths[tenth] ?? 0) > CAPACITY / 10) {
        refused += 1;
        plan(now + Math.max(1, follower.fail(tooMany, now)), one);
      } else if (follower.next === 'list') {
        follower.listed(now);
        plan(now + 1, { follower, hasListed: true });
      } else if (one.hasListed) current.push(now - outage);
      else plan(now + Math.max(1, follower.fail(gone, now)), one);
    }
    due.delete(now);
  }
  const counts = Array.from(tenths, (count) => count ?? 0);
  return {
    perTenth: Math.max(...counts),
    refused,
    p99: (current[Math.floor(current.length * 0.99)] ?? Number.POSITIVE_INFINITY) / 1_000,
    last: (current.at(-1) ?? Number.POSITIVE_INFINITY) / 1_000,
  };
}

describe('15,000 followers', () => {
  test('whose watches are cut in one moment come back spread, not in bursts', () => {
    const before = simulate((random) => new FormerFollower(random), 0);
    const after = simulate((random) => new PolicyFollower(random), 0);
    // 15,300 and 1,601: all of them came back in one tenth of a second, and all at once again after each Retry-After.
    expect(before.perTenth).toBeGreaterThanOrEqual(REPLICAS * KINDS);
    expect(after.perTenth).toBeLessThan(before.perTenth / 9);
    // 59,310 and 24,478 of requests that came to nothing.
    expect(after.refused).toBeLessThan(before.refused / 2);
    expect(after.last).toBeLessThan(60);
  });

  test('whose server was away for 30 seconds are current as soon as it can serve them', () => {
    const before = simulate((random) => new FormerFollower(random), 30_000);
    const after = simulate((random) => new PolicyFollower(random), 30_000);
    // 45,000 requests take this server 15 seconds. Trying each second costs it more refusals than waiting for 30.
    expect(after.perTenth).toBeLessThan(1_700);
    expect(after.p99).toBeLessThan(before.p99);
  });
});
