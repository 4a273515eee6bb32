/**
 * Processes changes: the first one after a quiet moment at once, a burst together. The work runs in slices, between
 * which the main thread does other work.
 *
 * An item that changes several times within a burst is processed once.
 */
import type { Clock, Timer } from './clock.ts';

/** Milliseconds between two runs: the longest that a change in a burst waits. */
const GATHERING = 10;
/** Milliseconds of work per slice. */
const SLICE = 2;

export class ChangeQueue {
  readonly #clock: Clock;
  readonly #step: () => boolean;
  readonly #done: () => void;
  #timer: Timer | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #lastRun = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  /**
   * @param step does one piece of work, of about a millisecond at most; returns false if there was no work
   * @param done called when all work is done
   */
  constructor(clock: Clock, step: () => boolean, done: () => void) {
    this.#clock = clock;
    this.#step = step;
    this.#done = done;
  }

  /** Schedules a run. Further changes in this turn of the event loop always join it. */
  schedule(): void {
    if (this.#timer !== undefined || this.#immediate !== undefined || this.#isStopped) return;
    const wait = this.#lastRun + GATHERING - this.#clock.monotonic();
    if (wait <= 0) this.#workSoon();
    else
      this.#timer = this.#clock.after(wait, () => {
        this.#timer = undefined;
        this.#workSlice();
      });
  }

  /** Does all work at once. */
  settle(): void {
    this.#cancel();
    while (this.#step());
    this.#finish();
  }

  /** Does no more work. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
  }

  #workSoon(): void {
    this.#immediate = setImmediate(() => this.#workSlice());
  }

  #workSlice(): void {
    const end = this.#clock.monotonic() + SLICE;
    let isMore = this.#step();
    while (isMore && this.#clock.monotonic() < end) isMore = this.#step();
    this.#immediate = undefined;
    if (isMore) this.#workSoon();
    else this.#finish();
  }

  #finish(): void {
    this.#lastRun = this.#clock.monotonic();
    this.#done();
  }
}
