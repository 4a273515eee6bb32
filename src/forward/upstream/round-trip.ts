/**
 * How long a server takes: a smoothed mean and its variation, as TCP keeps them (RFC 6298), and the patience that follows.
 */
import type { ForwardTiming } from '../plan.ts';

/** After each timeout patience doubles, at most so often, until a reply shows the true time again. */
const MOST_DOUBLINGS = 3;
/** Milliseconds below which asking a second server is never worth it. */
const LEAST_HEDGE = 20;

export class RoundTrip {
  readonly #timing: ForwardTiming;
  #smoothed: number | undefined;
  #variation = 0;
  #doublings = 0;
  #lastDoubling = Number.NEGATIVE_INFINITY;

  constructor(timing: ForwardTiming) {
    this.#timing = timing;
  }

  /** The smoothed time in milliseconds, once there was a reply. */
  get smoothed(): number | undefined {
    return this.#smoothed;
  }

  /** @param milliseconds from a query to its reply */
  measure(milliseconds: number): void {
    this.#doublings = 0;
    if (this.#smoothed === undefined) {
      this.#smoothed = milliseconds;
      this.#variation = milliseconds / 2;
      return;
    }
    this.#variation += (Math.abs(this.#smoothed - milliseconds) - this.#variation) / 4;
    this.#smoothed += (milliseconds - this.#smoothed) / 8;
  }

  /** Queries that time out together count once. @param now in milliseconds, of a clock that never goes back */
  timedOut(now: number): void {
    if (now - this.#lastDoubling < this.timeout()) return;
    this.#lastDoubling = now;
    this.#doublings = Math.min(this.#doublings + 1, MOST_DOUBLINGS);
  }

  /** Whole milliseconds to wait for a reply before asking again or elsewhere. */
  timeout(): number {
    const { leastTimeout, mostTimeout, firstTimeout } = this.#timing;
    const usual = this.#smoothed === undefined ? firstTimeout : this.#smoothed + 4 * this.#variation;
    return Math.round(Math.min(Math.max(usual, leastTimeout) * 2 ** this.#doublings, mostTimeout));
  }

  /** Whole milliseconds after which a reply is late enough to ask a second server too: never above `timeout`. */
  hedgeDelay(): number {
    const { firstTimeout } = this.#timing;
    // Beyond two deviations, but half as long again at least: where times hardly vary every second reply is above the mean.
    const usual =
      this.#smoothed === undefined
        ? firstTimeout / 2
        : this.#smoothed + Math.max(2 * this.#variation, this.#smoothed / 2);
    return Math.min(Math.round(Math.max(usual, LEAST_HEDGE)), this.timeout());
  }
}
