/**
 * Keeps queries beyond the second of a question, and hedges, a small part of all: when a server slows down under load, asking it
 * three times as much would not help it.
 *
 * A retry that is answered while the query before it stays without a reply shows that a packet was lost: what it cost is given back,
 * and more, so that a lossy path gets the retries that it needs.
 */
import type { Clock } from '../base/clock.ts';

/** Queries earned by each question, and by each second. */
const EARNED_PER_QUESTION = 0.1;
const EARNED_PER_SECOND = 1;
/** Queries given back for a proven loss: of those that repeat a lost one, fewer than all are lost too. */
const EARNED_PER_LOSS = 2;
/** What is saved is at most so much: a burst of questions about slow names costs no more. Proven losses save more. */
const MAX_SAVED = 3;
const MAX_SAVED_BY_LOSSES = 200;
/** A hedge leaves this for retries. */
const KEPT_FOR_RETRIES = 1;

export class RetryBudget {
  readonly #clock: Clock;
  #saved = MAX_SAVED;
  #earnedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#earnedAt = clock.monotonic();
  }

  /** Counts questions. */
  earn(questions = 1): void {
    this.#add(questions * EARNED_PER_QUESTION, MAX_SAVED);
  }

  /** Counts losses that a retry has proven. */
  earnForLosses(losses: number): void {
    this.#add(losses * EARNED_PER_LOSS, MAX_SAVED_BY_LOSSES);
  }

  /** Whether another query may be sent; counts it if so. */
  take(purpose: 'retry' | 'hedge'): boolean {
    const now = this.#clock.monotonic();
    this.#add(((now - this.#earnedAt) / 1000) * EARNED_PER_SECOND, MAX_SAVED);
    this.#earnedAt = now;
    if (this.#saved < (purpose === 'hedge' ? 1 + KEPT_FOR_RETRIES : 1)) return false;
    this.#saved -= 1;
    return true;
  }

  #add(queries: number, max: number): void {
    this.#saved = Math.max(this.#saved, Math.min(this.#saved + queries, max));
  }
}
