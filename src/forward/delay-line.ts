/**
 * Many timers of one and the same delay for the cost of one: they fall due in the order in which they were set, so only the
 * first needs a timer of the clock.
 *
 * A linked list whose entries forget their neighbours when they leave, for the reason told in `Flights`.
 */
import type { Clock, Timer } from '../ground/clock.ts';

export class DelayLine {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  /** The entry due first comes after it, the one due last before it. */
  readonly #ends = new LineEntry(0, () => {});
  #timer: Timer | undefined;

  constructor(clock: Clock, milliseconds: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  /** Calls `run` once after the delay. */
  after(run: () => void): Timer {
    const entry = new LineEntry(this.#clock.monotonic() + this.#milliseconds, run);
    entry.insertBefore(this.#ends);
    this.#timer ??= this.#clock.after(this.#milliseconds, () => this.#runDue());
    return entry;
  }

  /** The entry that the timer was set for may be gone by now; then the next one is waited for. */
  #runDue(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let entry = this.#ends.next; entry !== this.#ends; entry = this.#ends.next) {
      if (entry.dueAt > now) {
        this.#timer ??= this.#clock.after(Math.ceil(entry.dueAt - now), () => this.#runDue());
        return;
      }
      entry.cancel();
      entry.run();
    }
  }
}

class LineEntry implements Timer {
  /** Of the clock's monotonic time. */
  readonly dueAt: number;
  readonly run: () => void;
  next: LineEntry = this;
  #previous: LineEntry = this;

  constructor(dueAt: number, run: () => void) {
    this.dueAt = dueAt;
    this.run = run;
  }

  insertBefore(other: LineEntry): void {
    this.next = other;
    this.#previous = other.#previous;
    other.#previous.next = this;
    other.#previous = this;
  }

  cancel(): void {
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    this.next = this;
    this.#previous = this;
  }
}
