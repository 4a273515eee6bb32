/**
 * A server's round trip: a smoothed mean and its variation, as in TCP (RFC 6298), and the resulting time-outs.
 */
/** Milliseconds. */
export interface ReplyTimeouts {
  /** The bounds of a server's time-out. */
  readonly minTimeout: number;
  readonly maxTimeout: number;
  /** The time-out before the server's speed is known. */
  readonly firstTimeout: number;
}

/**
 * Maximum of doublings. Each time-out without any reply doubles the next one, until a reply shows the true time again. The
 * later queries of a question double it too.
 */
const MAX_DOUBLINGS = 4;
/** This many queries of a question use the normal time-out; each later one doubles it. */
const QUICK_QUERIES = 3;
/**
 * The least delay in milliseconds before a second server is asked: a resolver answers from its cache in 1 ms, otherwise
 * in tens of them.
 */
const MIN_HEDGE = 100;

/** The same for a path without losses: a late reply only shows that the server is slow. */
export function withoutLosses(timing: ReplyTimeouts): ReplyTimeouts {
  return { ...timing, minTimeout: Math.max(timing.minTimeout, timing.firstTimeout) };
}

export class RoundTrip {
  readonly #timing: ReplyTimeouts;
  #smoothed: number | undefined;
  #variation = 0;
  #doublings = 0;
  #lastDoubling = Number.NEGATIVE_INFINITY;

  constructor(timing: ReplyTimeouts) {
    this.#timing = timing;
  }

  /** The smoothed time in milliseconds; undefined before the first reply. */
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

  /** Queries that time out together count once. @param now in milliseconds, by a monotonic clock */
  timedOut(now: number): void {
    if (now - this.#lastDoubling < this.timeout()) return;
    this.#lastDoubling = now;
    this.#doublings = Math.min(this.#doublings + 1, MAX_DOUBLINGS);
  }

  /**
   * Whole milliseconds to wait for a reply before asking again or elsewhere.
   *
   * @param queries of the same question sent before
   */
  timeout(queries = 0): number {
    const doublings = Math.min(Math.max(this.#doublings, queries + 1 - QUICK_QUERIES), MAX_DOUBLINGS);
    return Math.min(this.usualTimeout() * 2 ** doublings, this.#timing.maxTimeout);
  }

  /** The same without doubling: an upper bound for usual replies. */
  usualTimeout(): number {
    const { minTimeout, maxTimeout, firstTimeout } = this.#timing;
    const usual = this.#smoothed === undefined ? firstTimeout : this.#smoothed + 4 * this.#variation;
    return Math.round(Math.min(Math.max(usual, minTimeout), maxTimeout));
  }

  /**
   * Whole milliseconds from asking it to asking the next server of a binding order: `min`, but never less than it takes on average. Its
   * variation does not count, since it is large after a slow reply.
   */
  failoverDelay(min: number): number {
    const { minTimeout, maxTimeout, firstTimeout } = this.#timing;
    const average = this.#smoothed === undefined ? firstTimeout : this.#smoothed * 1.5;
    return Math.round(Math.min(Math.max(min, minTimeout, average), maxTimeout));
  }

  /** Whole milliseconds after which to ask a second server too: never above `timeout`. */
  hedgeDelay(): number {
    const { firstTimeout } = this.#timing;
    // Mean plus two deviations, but at least 1.5 times the mean: with little variation, every second reply is above the mean.
    const usual =
      this.#smoothed === undefined
        ? firstTimeout / 2
        : this.#smoothed + Math.max(2 * this.#variation, this.#smoothed / 2);
    return Math.min(Math.round(Math.max(usual, MIN_HEDGE)), this.timeout());
  }
}
