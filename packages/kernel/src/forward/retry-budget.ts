/**
 * Limits hedges, and queries after a question's second, to a small part of all queries: a server that slows down under
 * load must not get three times as many.
 *
 * If a retry is answered while the query before it is not, a packet was lost. Such a loss refunds the cost and more, so
 * that a lossy path gets the retries that it needs.
 */
import type { Clock } from '../base/clock.ts';

/** Queries earned by each question, and by each second. */
const EARNED_PER_QUESTION = 0.1;
const EARNED_PER_SECOND = 1;
/** Queries refunded for a proven loss: of the queries that repeat a lost one, not all are lost too. */
const EARNED_PER_LOSS = 2;
/** Maximum of savings, which bounds a burst of questions for slow names. Proven losses may save more. */
const MAX_SAVED = 3;
const MAX_SAVED_BY_LOSSES = 200;
/** A hedge must leave this for retries. */
const KEPT_FOR_RETRIES = 1;

export class RetryBudget {
  readonly #clock: Clock;
  #saved = MAX_SAVED;
  #earnedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#earnedAt = clock.monotonic();
  }

  /** Earns for new questions. */
  earn(questions = 1): void {
    this.#add(questions * EARNED_PER_QUESTION, MAX_SAVED);
  }

  /** Earns for losses that a retry has proven. */
  earnForLosses(losses: number): void {
    this.#add(losses * EARNED_PER_LOSS, MAX_SAVED_BY_LOSSES);
  }

  /** Whether another query may be sent; if so, spends it. */
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
