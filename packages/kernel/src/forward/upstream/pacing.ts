/**
 * Limits the rate of queries to one server, for resolvers that enforce a limit (a cloud's resolver accepts 1,024 packets a second).
 *
 * A token bucket with a tenth of a second's tokens, which keeps bursts that short.
 */
const BURST_SECONDS = 0.1;
/** Tolerance for rounding errors, in milliseconds. */
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

  /** Milliseconds until a query may be sent; 0: now. */
  wait(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 - ROUNDING ? 0 : Math.ceil((1 - this.#tokens) / this.#perMillisecond - ROUNDING);
  }

  /** Counts a sent query; a probe may not have waited. */
  take(now: number): void {
    this.#fill(now);
    this.#tokens = Math.max(this.#tokens - 1, -this.#most);
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#most, this.#tokens + (now - this.#filledAt) * this.#perMillisecond);
    this.#filledAt = now;
  }
}
