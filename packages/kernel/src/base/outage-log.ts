/**
 * Logs an outage: one line when it begins, one for each change of its state, and one when it ends, however many retries
 * fail in between. Log the retries themselves at level debug.
 */
import type { Clock } from './clock.ts';
import { formatElapsed } from './duration.ts';
import type { Log, LogFields } from './log.ts';

export interface OutageMessages {
  /** `API server not reachable`. */
  readonly failed: string;
  /** `API server reachable again`. */
  readonly ended: string;
}

interface Outage {
  readonly began: number;
  state: string;
  failures: number;
}

export class OutageLog {
  readonly #log: Log;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #messages: OutageMessages;
  #outage: Outage | undefined;

  constructor(log: Log, clock: Pick<Clock, 'monotonic'>, messages: OutageMessages) {
    this.#log = log;
    this.#clock = clock;
    this.#messages = messages;
  }

  /** @param state a word for the kind of failure, `network` or `permission`; each change logs a warning */
  failed(state: string, fields: LogFields = {}): void {
    const outage = this.#outage ?? { began: this.#clock.monotonic(), state: '', failures: 0 };
    this.#outage = outage;
    outage.failures += 1;
    const level = outage.state === state ? 'debug' : 'warn';
    outage.state = state;
    this.#log[level](this.#messages.failed, { state, ...fields });
  }

  /** Logs the end of an outage, if there was one. */
  ended(fields: LogFields = {}): void {
    const outage = this.#outage;
    if (outage === undefined) return;
    this.#outage = undefined;
    const lasted = formatElapsed(this.#clock.monotonic() - outage.began);
    this.#log.info(this.#messages.ended, { ...fields, lasted, failures: outage.failures });
  }
}
