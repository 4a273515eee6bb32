/**
 * Many timers for the cost of one: they are due in nearly the order in which they were set, so only the first needs a
 * timer of the clock.
 *
 * A linked list. Entries carry their own links and clear them when they leave; `QuestionTable` explains why it is not a `Map`.
 */
import type { Clock, Timer } from './clock.ts';

/** An entry of a `TimerQueue`: due once each time it is set. */
export abstract class QueuedTimer {
  /** By the clock's monotonic time. @internal for `TimerQueue`, like its neighbours */
  dueAt = 0;
  next: QueuedTimer | undefined;
  previous: QueuedTimer | undefined;

  /** Called when it is due. It may be set again. */
  abstract due(): void;
}

class End extends QueuedTimer {
  override next: QueuedTimer = this;
  override previous: QueuedTimer = this;

  due(): void {}
}

export class TimerQueue {
  readonly #clock: Clock;
  /** Before the first entry and after the last one. */
  readonly #end = new End();
  #timer: Timer | undefined;
  #timerAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets an entry that is not set. @param dueAt by the clock's monotonic time; it may be past */
  set(entry: QueuedTimer, dueAt: number): void {
    entry.dueAt = dueAt;
    let before = this.#end.previous;
    while (before !== this.#end && before.dueAt > entry.dueAt) before = before.previous ?? this.#end;
    const after = before.next ?? this.#end;
    entry.previous = before;
    entry.next = after;
    before.next = entry;
    after.previous = entry;
    if (before === this.#end && (this.#timer === undefined || this.#timerAt > entry.dueAt)) this.#wait(entry);
  }

  /** Has no effect on an entry that is not set. */
  cancel(entry: QueuedTimer): void {
    const { next, previous } = entry;
    if (next === undefined || previous === undefined) return;
    previous.next = next;
    next.previous = previous;
    entry.next = undefined;
    entry.previous = undefined;
  }

  #wait(first: QueuedTimer): void {
    this.#timer?.cancel();
    this.#timerAt = first.dueAt;
    const milliseconds = Math.max(0, Math.ceil(first.dueAt - this.#clock.monotonic()));
    this.#timer = this.#clock.after(milliseconds, () => this.#runDue());
  }

  /** The entry that the timer was set for may be gone; then waits for the next one. */
  #runDue(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (let entry = this.#end.next; entry !== this.#end && entry.dueAt <= now; entry = this.#end.next) {
      this.cancel(entry);
      entry.due();
    }
    // `due` may have set another timer already.
    if (this.#end.next !== this.#end && this.#timer === undefined) this.#wait(this.#end.next);
  }
}
