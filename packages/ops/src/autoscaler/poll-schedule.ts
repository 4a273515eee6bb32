/**
 * Decides when to poll: at an interval, and at once after a change that follows a quiet time. Later changes wait for the end of the
 * interval, so that a growing cluster does not cause a poll per node.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';

/** Milliseconds from a change to its poll, which covers changes in between. */
const GATHER = 100;

export class PollSchedule {
  readonly #clock: Clock;
  readonly #period: number;
  /** Time of the next poll, on the monotonic clock. */
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

  /** Waits until a poll is due; the first is due at once. @returns false once it is stopped */
  async next(): Promise<boolean> {
    if (this.#isStopped) return false;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#setTimer();
    });
    this.#wake = undefined;
    return !this.#isStopped;
  }

  /** Call it after a change that a poll would see. */
  changed(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    if (this.#wake !== undefined) this.#setTimer();
  }

  /** Makes the next poll due at once, as at the start; a change soon after it brings another one forward. */
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
