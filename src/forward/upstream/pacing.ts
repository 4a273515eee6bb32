/**
 * Keeps queries to one server under a rate, for resolvers that count (a cloud's resolver takes 1,024 packets a second).
 *
 * A bucket of tokens that holds what a tenth of a second brings, so that bursts stay as short.
 */
const BURST_SECONDS = 0.1;
/** What sums of fractions may be off by, in milliseconds. */
const ROUNDING = 1e-6;

export class Pacing {
  readonly #perMillisecond: number;
  readonly #most: number;
  #tokens: number;
  #filledAt: number;

  /** @param queriesPerSecond above 0 */
  constructor(queriesPerSecond: number, now: number) {
    this.#perMillisecond = queriesPerSecond / 1000;
    this.#most = Math.max(1, queriesPerSecond * BURST_SECONDS);
    this.#tokens = this.#most;
    this.#filledAt = now;
  }

  /** Milliseconds until a query may be sent; 0 if one may be sent at once. */
  wait(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 - ROUNDING ? 0 : Math.ceil((1 - this.#tokens) / this.#perMillisecond - ROUNDING);
  }

  /** Counts a query that is sent, which may be a probe that did not wait. */
  take(now: number): void {
    this.#fill(now);
    this.#tokens = Math.max(this.#tokens - 1, -this.#most);
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#most, this.#tokens + (now - this.#filledAt) * this.#perMillisecond);
    this.#filledAt = now;
  }
}
