/**
 * Long work on the main thread, in slices with other work in between.
 */
import type { Clock } from './clock.ts';

/** Milliseconds of work per slice. */
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

  /** Yields to other work, and begins the next slice. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#end = this.#clock.monotonic() + SLICE;
  }
}
