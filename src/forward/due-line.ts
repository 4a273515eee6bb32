/**
 * Many timers for the cost of one: they fall due in nearly the order in which they were set, so only the first needs a timer of
 * the clock.
 *
 * A linked list whose entries are whatever is to fall due, and forget their neighbours when they leave, for the reason told in
 * `Flights`.
 */
import type { Clock, Timer } from '../ground/clock.ts';

/** What falls due, once each time it is set. */
export abstract class DueEntry {
  /** Of the clock's monotonic time. @internal for `DueLine`, like its neighbours */
  dueAt = 0;
  next: DueEntry | undefined;
  previous: DueEntry | undefined;

  /** Called when its time has come. It may be set again. */
  abstract due(): void;
}

class End extends DueEntry {
  override next: DueEntry = this;
  override previous: DueEntry = this;

  due(): void {}
}

export class DueLine {
  readonly #clock: Clock;
  /** The entry due first comes after it, the one due last before it. */
  readonly #end = new End();
  #timer: Timer | undefined;
  #timerAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets an entry fall due, which is not set. @param now of the clock's monotonic time */
  set(entry: DueEntry, now: number, milliseconds: number): void {
    entry.dueAt = now + milliseconds;
    let before = this.#end.previous;
    while (before !== this.#end && before.dueAt > entry.dueAt) before = before.previous ?? this.#end;
    const after = before.next ?? this.#end;
    entry.previous = before;
    entry.next = after;
    before.next = entry;
    after.previous = entry;
    if (before === this.#end && (this.#timer === undefined || this.#timerAt > entry.dueAt))
      this.#wait(entry, now);
  }

  /** Nothing happens if it is not set. */
  cancel(entry: DueEntry): void {
    const { next, previous } = entry;
    if (next === undefined || previous === undefined) return;
    previous.next = next;
    next.previous = previous;
    entry.next = undefined;
    entry.previous = undefined;
  }

  #wait(first: DueEntry, now: number): void {
    this.#timer?.cancel();
    this.#timerAt = first.dueAt;
    this.#timer = this.#clock.after(Math.ceil(first.dueAt - now), () => this.#runDue());
  }

  /** The entry that the timer was set for may be gone by now; then the next one is waited for. */
  #runDue(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let entry = this.#end.next; entry !== this.#end && entry.dueAt <= now; entry = this.#end.next) {
      this.cancel(entry);
      entry.due();
    }
    // What fell due may have set another.
    if (this.#end.next !== this.#end && this.#timer === undefined) this.#wait(this.#end.next, now);
  }
}
