/**
 * Warnings about single objects, at most one in a while: a thousand bad objects make one line and a number.
 */
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';

const INTERVAL = 60_000;

export class WarningLimit {
  readonly #log: Log;
  readonly #clock: Clock;
  #last = Number.NEGATIVE_INFINITY;
  #suppressed = 0;
  #total = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** How many there were, shown or not. */
  get total(): number {
    return this.#total;
  }

  warn(message: string, fields: Readonly<Record<string, string>>): void {
    this.#total += 1;
    const now = this.#clock.monotonic();
    if (now - this.#last < INTERVAL) {
      this.#suppressed += 1;
      return;
    }
    this.#last = now;
    this.#log.warn(message, { ...fields, more: this.#suppressed });
    this.#suppressed = 0;
  }
}
