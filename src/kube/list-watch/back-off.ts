/**
 * How long to wait after failures in a row: exponential and jittered, so that many clients do not return as one.
 */
import type { ListWatchTiming } from './timing.ts';

type BackOffTiming = Pick<ListWatchTiming, 'backOffShortest' | 'backOffLongest' | 'retryAfterLongest'>;

export class BackOff {
  readonly #timing: BackOffTiming;
  readonly #random: () => number;
  #failures = 0;

  /** `random` gives numbers from 0 up to, but not, 1. */
  constructor(timing: BackOffTiming, random: () => number) {
    this.#timing = timing;
    this.#random = random;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }

  /**
   * Counts a failure.
   * @param retryAfter what the server asked for, in milliseconds
   * @returns milliseconds to wait
   */
  next(retryAfter = 0): number {
    const { backOffShortest, backOffLongest, retryAfterLongest } = this.#timing;
    const full = Math.min(backOffLongest, backOffShortest * 2 ** this.#failures);
    this.#failures += 1;
    const jittered = Math.max(backOffShortest, full * (0.5 + this.#random() / 2));
    return Math.max(jittered, Math.min(retryAfter, retryAfterLongest));
  }
}
