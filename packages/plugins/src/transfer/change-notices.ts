/**
 * When secondary servers are notified of the changes of a zone that changes often.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';

/** Milliseconds after a change: others often follow it. */
const DELAY = 1_000;
/** Milliseconds between two notifications. Each may lead to a transfer of the whole zone. */
const INTERVAL = 5_000;

export class ChangeNotices {
  readonly #clock: Clock;
  readonly #notify: () => void;
  #due: Timer | undefined;
  #last = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  /** @param notify called once for all changes of an interval */
  constructor(clock: Clock, notify: () => void) {
    this.#clock = clock;
    this.#notify = notify;
  }

  /** The zone has changed. */
  changed(): void {
    if (this.#due !== undefined || this.#isStopped) return;
    const wait = Math.max(DELAY, this.#last + INTERVAL - this.#clock.monotonic());
    this.#due = this.#clock.after(wait, () => {
      this.#due = undefined;
      this.#last = this.#clock.monotonic();
      this.#notify();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#due?.cancel();
  }
}
