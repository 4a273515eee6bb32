/**
 * A clock that a test advances by hand; timers fire only then.
 */
import type { Clock, Timer } from '../clock.ts';

interface Pending {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class ManualClock implements Clock {
  #elapsed = 0;
  #count = 0;
  #start: number;
  readonly #pending = new Set<Pending>();

  /** `start` is in milliseconds since the Unix epoch. */
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  /** Adjusts the wall clock, forward or back; durations are not affected. */
  adjust(milliseconds: number): void {
    this.#start += milliseconds;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(milliseconds: number, run: () => void): Timer {
    this.#count += 1;
    const pending = { at: this.#elapsed + Math.max(0, milliseconds), order: this.#count, run };
    this.#pending.add(pending);
    return { cancel: () => this.#pending.delete(pending) };
  }

  /** Advances time and runs due timers in order, each at its own time. */
  advance(milliseconds: number): void {
    const end = this.#elapsed + milliseconds;
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#pending.delete(next);
      this.#elapsed = next.at;
      next.run();
    }
    this.#elapsed = end;
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#pending.size;
  }

  #nextUntil(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.at > end) continue;
      if (
        first === undefined ||
        pending.at < first.at ||
        (pending.at === first.at && pending.order < first.order)
      ) {
        first = pending;
      }
    }
    return first;
  }
}
