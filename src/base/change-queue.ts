/**
 * Works off changes: the first one after a quiet moment at once, a burst gathered, all of it in slices between which the
 * main thread does other work.
 *
 * What changes several times within a burst is worked off once.
 */
import type { Clock, Timer } from './clock.ts';

/** Milliseconds from the end of one run until the next begins: how long a change in a burst waits at most. */
const GATHERING = 10;
/** Milliseconds of work at a stretch. */
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
   * @param step does one piece of work, a millisecond or so at most; false: there was none left
   * @param done called when all is worked off
   */
  constructor(clock: Clock, step: () => boolean, done: () => void) {
    this.#clock = clock;
    this.#step = step;
    this.#done = done;
  }

  /** Says that there is work. What else arrives in this turn of the event loop is gathered in any case. */
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

  /** Works everything off at once. */
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
