/**
 * When to poll: at an interval, and at once after a change that comes after a quiet time. Whatever changes soon after that waits
 * for the end of the interval, so that a cluster that is built up is not followed node by node.
 */
import type { Clock, Timer } from '../../base/clock.ts';

/** Milliseconds from a change to its poll: what changes with it is polled with it. */
const GATHER = 100;

export class PollSchedule {
  readonly #clock: Clock;
  readonly #period: number;
  /** On the monotonic clock. */
  #dueAt: number;
  #hasChanged = false;
  /** Whether a change may bring the next poll forward. */
  #mayHurry = true;
  #isStopped = false;
  #wake: (() => void) | undefined;
  #timer: Timer | undefined;

  /** @param period milliseconds from one poll to the next */
  constructor(period: number, clock: Clock) {
    this.#clock = clock;
    this.#period = period;
    this.#dueAt = clock.monotonic();
  }

  /** Waits until a poll is due: the first one is at once. @returns false once it is stopped */
  async next(): Promise<boolean> {
    if (this.#isStopped) return false;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#setTimer();
    });
    this.#wake = undefined;
    return !this.#isStopped;
  }

  /** Something has changed that a poll would look at. */
  changed(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    if (this.#wake !== undefined) this.#setTimer();
  }

  /** Has the next poll at once, as at the start: a change soon after it brings another one forward. */
  restart(): void {
    this.#dueAt = this.#clock.monotonic();
    if (this.#wake !== undefined) this.#setTimer();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#wake?.();
  }

  #setTimer(): void {
    this.#timer?.cancel();
    const left = Math.max(0, this.#dueAt - this.#clock.monotonic());
    const hurries = this.#hasChanged && this.#mayHurry && left > GATHER;
    this.#timer = this.#clock.after(hurries ? GATHER : left, () => {
      this.#mayHurry = !hurries;
      this.#hasChanged = false;
      this.#dueAt = this.#clock.monotonic() + this.#period;
      this.#wake?.();
    });
  }
}
