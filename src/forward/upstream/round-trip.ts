/**
 * How long a server takes: a smoothed mean and its variation, as TCP keeps them (RFC 6298), and the time-outs that follow.
 */
/** Milliseconds. */
export interface ReplyTimeouts {
  /** The bounds of the time that a server is given to reply. */
  readonly minTimeout: number;
  readonly maxTimeout: number;
  /** What it is given before its speed is known. */
  readonly firstTimeout: number;
}

/** After each time-out without any reply the next one doubles, at most so often, until a reply shows the true time again; so it does
 * for the later queries of a question.
 */
const MAX_DOUBLINGS = 4;
/** So many queries of a question wait for the usual time; each after them twice as long as the one before. */
const QUICK_QUERIES = 3;
/** Milliseconds below which no second server is asked: a resolver answers from its cache in 1 ms and else takes tens of them. */
const MIN_HEDGE = 100;

/** The same for a path that loses nothing: a late reply only shows that the server is slow. */
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
    this.#doublings = Math.min(this.#doublings + 1, MAX_DOUBLINGS);
  }

  /**
   * Whole milliseconds to wait for a reply before asking again or elsewhere.
   *
   * @param queries of the same question that were sent before
   */
  timeout(queries = 0): number {
    const doublings = Math.min(Math.max(this.#doublings, queries + 1 - QUICK_QUERIES), MAX_DOUBLINGS);
    return Math.min(this.usualTimeout() * 2 ** doublings, this.#timing.maxTimeout);
  }

  /** The same without doublings: what a reply usually takes at most. */
  usualTimeout(): number {
    const { minTimeout, maxTimeout, firstTimeout } = this.#timing;
    const usual = this.#smoothed === undefined ? firstTimeout : this.#smoothed + 4 * this.#variation;
    return Math.round(Math.min(Math.max(usual, minTimeout), maxTimeout));
  }

  /** Whole milliseconds after which a reply is late enough to ask a second server too: never above `timeout`. */
  hedgeDelay(): number {
    const { firstTimeout } = this.#timing;
    // Beyond two deviations, but half as long again at least: where times hardly vary every second reply is above the mean.
    const usual =
      this.#smoothed === undefined
        ? firstTimeout / 2
        : this.#smoothed + Math.max(2 * this.#variation, this.#smoothed / 2);
    return Math.min(Math.round(Math.max(usual, MIN_HEDGE)), this.timeout());
  }
}
