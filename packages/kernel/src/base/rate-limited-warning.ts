/**
 * Warnings that many queries or objects may cause: logs each message at most once in an interval, with the number suppressed since.
 */
import type { Clock } from './clock.ts';
import type { Log, LogFields } from './log.ts';

/** Default for the milliseconds between two warnings with the same message. */
const INTERVAL = 10_000;

interface Limit {
  last: number;
  suppressed: number;
}

export class RateLimitedWarnings {
  readonly #log: Log;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #interval: number;
  readonly #limits = new Map<string, Limit>();
  #total = 0;

  /** @param interval milliseconds between two warnings with the same message */
  constructor(log: Log, clock: Pick<Clock, 'monotonic'>, interval = INTERVAL) {
    this.#log = log;
    this.#clock = clock;
    this.#interval = interval;
  }

  /** Warnings so far, suppressed ones included. */
  get total(): number {
    return this.#total;
  }

  /**
   * @param message one of a few: each has its own limit
   * @returns whether it was logged
   */
  warn(message: string, fields: LogFields = {}): boolean {
    this.#total += 1;
    const now = this.#clock.monotonic();
    const limit = this.#limits.get(message) ?? { last: Number.NEGATIVE_INFINITY, suppressed: 0 };
    this.#limits.set(message, limit);
    if (now - limit.last < this.#interval) {
      limit.suppressed += 1;
      return false;
    }
    const suppressed = limit.suppressed === 0 ? undefined : limit.suppressed;
    this.#log.warn(message, { ...fields, suppressed });
    limit.last = now;
    limit.suppressed = 0;
    return true;
  }
}
