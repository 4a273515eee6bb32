/**
 * Long work of the main thread, in slices between which other work goes on.
 */
import type { Clock } from './clock.ts';

/** Milliseconds of work at a stretch. */
const SLICE = 5;

export class TimeSlice {
  readonly #clock: Clock;
  #end: number;

  /** Begins a slice. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#end = clock.monotonic() + SLICE;
  }

  get isOver(): boolean {
    return this.#clock.monotonic() >= this.#end;
  }

  /** Lets other work go on, and begins the next slice. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#end = this.#clock.monotonic() + SLICE;
  }
}
