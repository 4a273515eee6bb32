/**
 * Gathers what has changed for a moment, then works it off in slices, so that the main thread stays responsive.
 *
 * What changes several times within the moment is worked off once.
 */
import type { Clock, Timer } from '../ground/clock.ts';

/** Milliseconds from the first change until it is worked off. */
const GATHERING = 10;
/** Milliseconds of work at a stretch. */
const SLICE = 5;

export class ChangeQueue {
  readonly #clock: Clock;
  readonly #step: () => boolean;
  readonly #done: () => void;
  #timer: Timer | undefined;
  #isWorking = false;
  #isStopped = false;

  /**
   * @param step works off one thing; false: there was none left
   * @param done called when all is worked off
   */
  constructor(clock: Clock, step: () => boolean, done: () => void) {
    this.#clock = clock;
    this.#step = step;
    this.#done = done;
  }

  /** Says that there is something to work off. */
  schedule(): void {
    if (this.#timer !== undefined || this.#isWorking || this.#isStopped) return;
    this.#timer = this.#clock.after(GATHERING, () => {
      this.#timer = undefined;
      this.#workSlice();
    });
  }

  /** Works everything off at once. */
  settle(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#step());
    this.#done();
  }

  /** Works nothing off any more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #workSlice(): void {
    if (this.#isStopped) return;
    const end = this.#clock.monotonic() + SLICE;
    this.#isWorking = true;
    let isMore = this.#step();
    while (isMore && this.#clock.monotonic() < end) isMore = this.#step();
    if (isMore) {
      setImmediate(() => this.#workSlice());
      return;
    }
    this.#isWorking = false;
    this.#done();
  }
}
