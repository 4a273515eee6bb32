/**
 * Many timers of one and the same delay for the cost of one: they fall due in the order in which they were set, so only the
 * first needs a timer of the clock.
 */
import type { Clock, Timer } from '../ground/clock.ts';

export class DelayLine {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  /** In the order in which they fall due. */
  readonly #entries = new Set<LineEntry>();
  #timer: Timer | undefined;

  constructor(clock: Clock, milliseconds: number) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
  }

  /** Calls `run` once after the delay. */
  after(run: () => void): Timer {
    const entry = new LineEntry(this.#entries, this.#clock.monotonic() + this.#milliseconds, run);
    this.#entries.add(entry);
    this.#timer ??= this.#clock.after(this.#milliseconds, () => this.#runDue());
    return entry;
  }

  /** The entry that the timer was set for may be gone by now; then the next one is waited for. */
  #runDue(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (const entry of this.#entries) {
      if (entry.dueAt > now) {
        this.#timer ??= this.#clock.after(Math.ceil(entry.dueAt - now), () => this.#runDue());
        return;
      }
      this.#entries.delete(entry);
      entry.run();
    }
  }
}

class LineEntry implements Timer {
  /** Of the clock's monotonic time. */
  readonly dueAt: number;
  readonly run: () => void;
  readonly #line: Set<LineEntry>;

  constructor(line: Set<LineEntry>, dueAt: number, run: () => void) {
    this.#line = line;
    this.dueAt = dueAt;
    this.run = run;
  }

  cancel(): void {
    this.#line.delete(this);
  }
}
