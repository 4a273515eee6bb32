/**
 * Keeps statistics while the plan in force wants them. What counts is loaded when it is first wanted.
 */
import type { Log } from '@portolan/kernel/base/log.ts';
import type { QueryStatistics } from './query-statistics.ts';

export class StatisticsKeeper {
  readonly #begin: () => Promise<QueryStatistics>;
  readonly #log: Log;
  #isWanted = false;
  #isBeginning = false;
  #current: QueryStatistics | undefined;

  constructor(begin: () => Promise<QueryStatistics>, log: Log) {
    this.#begin = begin;
    this.#log = log;
  }

  /** Undefined: none are kept. */
  get current(): QueryStatistics | undefined {
    return this.#current;
  }

  keep(isWanted: boolean): void {
    this.#isWanted = isWanted;
    if (!isWanted) {
      this.#current?.stop();
      this.#current = undefined;
    } else if (this.#current === undefined && !this.#isBeginning) {
      this.#isBeginning = true;
      void this.#begin().then(
        (begun) => {
          this.#isBeginning = false;
          this.#current = begun;
          if (!this.#isWanted) this.keep(false);
        },
        (error: unknown) => {
          this.#isBeginning = false;
          this.#log.error('statistics not kept', {
            reason: String(error),
            hint: 'Install the program again.',
          });
        },
      );
    }
  }
}
