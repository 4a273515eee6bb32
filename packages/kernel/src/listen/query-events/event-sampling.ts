/**
 * Chooses how many events are left out while only statistics are wanted: so many that counting costs little, whatever the load.
 */
import { SAMPLING } from './event-ring.ts';

/** Events a second that are always taken: a quiet server is counted whole. */
const FEW_EVENTS = 1_000;
/** Events a second at most. */
const MANY_EVENTS = 3_000;
/** In between, one query of so many. */
const SHARE = 16;
/** One event of 2^12 at most. */
const MAX_EXPONENT = 12;
/** Milliseconds between two choices. */
const INTERVAL = 1_000;

export class EventSampling {
  #since: number;
  #events = 0;
  #queries = 0;
  #exponent = 0;
  #keepsFailures = true;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: number) {
    this.#since = now;
  }

  /** As `SAMPLING`. */
  get word(): number {
    if (this.#exponent === 0) return 0;
    return this.#exponent | (this.#keepsFailures ? SAMPLING.FAILURES : 0);
  }

  /** How many queries an event represents. */
  get weight(): number {
    return 1 << this.#exponent;
  }

  /** @param events taken, for so many queries; lost ones count as both @returns whether the choice has changed */
  note(events: number, queries: number, now: number): boolean {
    this.#events += events;
    this.#queries += queries;
    const seconds = (now - this.#since) / 1000;
    if (seconds < INTERVAL / 1000) return false;
    const before = this.word;
    const failures = this.#events - this.#queries / this.weight;
    const rate = this.#queries / seconds;
    const wanted = Math.min(Math.max(rate / SHARE, FEW_EVENTS), MANY_EVENTS);
    this.#exponent = Math.min(Math.max(0, Math.ceil(Math.log2(rate / wanted))), MAX_EXPONENT);
    // A flood of failures is sampled like all else.
    this.#keepsFailures = failures / seconds < MANY_EVENTS;
    this.#since = now;
    this.#events = 0;
    this.#queries = 0;
    return this.word !== before;
  }
}
