/**
 * Logs notifications: a few a minute, then how many more there were. Anybody can send any number of them.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';

const MAX_LINES = 20;
/** Milliseconds that these are for. */
const PERIOD = 60_000;

export class NotifyLog {
  readonly #log: Log;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When the period began. */
  #since = Number.NEGATIVE_INFINITY;
  #lines = 0;

  constructor(log: Log, clock: Pick<Clock, 'monotonic'>) {
    this.#log = log;
    this.#clock = clock;
  }

  /** @param line what came of a notification */
  note(line: string): void {
    const now = this.#clock.monotonic();
    if (now - this.#since >= PERIOD) {
      const more = this.#lines - MAX_LINES;
      if (more > 0) this.#log.info(`plugin/file: ${more} more notifies in a minute`);
      this.#since = now;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines <= MAX_LINES) this.#log.info(`plugin/file: ${line}`);
  }
}
