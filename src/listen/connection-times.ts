/**
 * The time limits of a client's connection: for its first query, its next one, unread answers, its age and its end.
 */
import type { Clock, Timer } from '../base/clock.ts';
import type { ConnectionLimits, EndReason } from './served-connection.ts';

/** `new`: no query yet. `pending`: an answer is. `unread`: the client has not read one. */
export type ConnectionActivity = 'new' | 'idle' | 'pending' | 'unread';

export interface TimedConnection {
  activity(): ConnectionActivity;
  end(reason: EndReason): void;
  destroy(): void;
}

export class ConnectionTimes {
  /** By the clock's monotonic time. */
  lastActive: number;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #connection: TimedConnection;
  readonly #opened: number;
  #timer: Timer;

  constructor(limits: ConnectionLimits, clock: Clock, connection: TimedConnection) {
    this.#limits = limits;
    this.#clock = clock;
    this.#connection = connection;
    this.#opened = clock.monotonic();
    this.lastActive = this.#opened;
    this.#timer = this.#watch('new');
  }

  /** The connection was opened, queried, or answered. */
  noteActivity(): void {
    this.lastActive = this.#clock.monotonic();
  }

  hasBeenIdleFor(milliseconds: number): boolean {
    return this.#clock.monotonic() - this.lastActive >= milliseconds;
  }

  /** From now on only the time of an ending connection counts. */
  limitEnd(): void {
    this.#timer.cancel();
    this.#timer = this.#clock.after(this.#limits.endingMilliseconds, () => this.#connection.destroy());
  }

  stop(): void {
    this.#timer.cancel();
  }

  #watch(activity: ConnectionActivity): Timer {
    const { idleMilliseconds, writeMilliseconds = idleMilliseconds, ageMilliseconds } = this.#limits;
    const now = this.#clock.monotonic();
    // The activity, and so the limit that applies, may change before the time is over.
    const due = Math.min(
      this.lastActive + this.#maxInactive(activity),
      now + Math.min(idleMilliseconds, writeMilliseconds),
      this.#opened + ageMilliseconds,
    );
    return this.#clock.after(Math.max(1, due - now), () => this.#onTime());
  }

  /** In milliseconds since `lastActive`. */
  #maxInactive(activity: ConnectionActivity): number {
    const { idleMilliseconds, readMilliseconds, writeMilliseconds } = this.#limits;
    if (activity === 'unread') return writeMilliseconds ?? idleMilliseconds;
    return (activity === 'new' ? readMilliseconds : undefined) ?? idleMilliseconds;
  }

  #onTime(): void {
    const activity = this.#connection.activity();
    if (this.#clock.monotonic() - this.#opened >= this.#limits.ageMilliseconds) this.#connection.end('age');
    else if (!this.hasBeenIdleFor(this.#maxInactive(activity))) this.#timer = this.#watch(activity);
    else if (activity === 'unread') this.#connection.destroy();
    else if (activity === 'pending') {
      // With answers pending, the connection is not idle.
      this.noteActivity();
      this.#timer = this.#watch(activity);
    } else this.#connection.end('idle');
  }
}
