/**
 * Logs notifications: a few a minute, then how many more there were. Anybody can send any number of them.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { LineLimit } from '@portolan/kernel/base/line-limit.ts';
import type { Log } from '@portolan/kernel/base/log.ts';

const LIMIT = { lines: 20, period: 60_000 };

export class NotifyLog {
  readonly #log: Log;
  readonly #limit: LineLimit;

  constructor(log: Log, clock: Pick<Clock, 'after'>) {
    this.#log = log;
    const logMore = (count: number) => log.info(`plugin/file: ${count} more notifies in a minute`);
    this.#limit = new LineLimit({ ...LIMIT, clock, logMore });
  }

  /** @param line what came of a notification */
  note(line: string): void {
    if (this.#limit.take()) this.#log.info(`plugin/file: ${line}`);
  }

  stop(): void {
    this.#limit.stop();
  }
}
