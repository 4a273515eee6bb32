/**
 * A client's connection, whatever the protocol on it: its turns, the octets that it holds, its time limits and its end.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import type { Client } from '../chain/query.ts';
import { fairScheduler, type Work } from './fair-scheduler.ts';
import type { MessageAnswers } from './message-answers.ts';
import type { ConnectionEvents, ConnectionLimits, EndReason, ServedConnection } from './served-connection.ts';

/** Milliseconds for which a connection answers queries at a stretch: time to send many of them in one segment. */
const SERVED_MILLISECONDS = 2;

/** `new`: no query yet. `pending`: an answer is. `unread`: the client has not read one. */
type ConnectionActivity = 'new' | 'idle' | 'pending' | 'unread';

export interface ClientConnectionOptions {
  readonly socket: Socket;
  readonly client: Client;
  readonly answers: MessageAnswers;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly events: ConnectionEvents;
}

export abstract class ClientConnection implements ServedConnection, Work {
  queries = 0;
  heldOctets = 0;
  lastActive: number;
  /** Queries without an answer. */
  protected owed = 0;
  protected readonly limits: ConnectionLimits;
  protected readonly clock: Clock;
  /** Whether its end was reported. */
  protected isGone = false;
  protected maxQueries: number;
  /** Whether it reads no further queries. */
  protected abstract readonly isEnding: boolean;
  /** Whether the client has answers to read. */
  protected abstract readonly hasUnread: boolean;
  protected abstract reason: EndReason;
  readonly #socket: Socket;
  readonly #address: string;
  readonly #events: ConnectionEvents;
  readonly #opened: number;
  /** Whether it waits for its client's turn. */
  #isScheduled = false;
  #timer: Timer;

  constructor({ socket, client, limits, clock, events }: ClientConnectionOptions) {
    this.#socket = socket;
    this.#address = client.address;
    this.#events = events;
    this.limits = limits;
    this.clock = clock;
    this.maxQueries = limits.queries;
    this.#opened = clock.monotonic();
    this.lastActive = this.#opened;
    this.#timer = this.#watch('new');
    socket.setNoDelay(true);
    socket.on('close', () => this.onClose());
  }

  /** Answers queries, as far as the limits allow, until `end` by the monotonic clock. */
  protected abstract serveUntil(end: number): void;
  protected abstract end(reason: EndReason): void;

  get isIdle(): boolean {
    return this.isEnding || (this.owed === 0 && !this.hasUnread);
  }

  get #activity(): ConnectionActivity {
    if (this.hasUnread) return 'unread';
    if (this.owed > 0) return 'pending';
    return this.queries === 0 ? 'new' : 'idle';
  }

  leave(): void {
    if (this.queries > 0) this.end('leaving');
    else this.maxQueries = 1;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  endIfIdleFor(milliseconds: number): void {
    if (this.isIdle && this.#hasBeenInactiveFor(milliseconds)) this.end('idle');
  }

  cut(reason: EndReason): void {
    this.reason = reason;
    this.destroy();
    // Its place is needed now, but 'close' comes later.
    this.onClose();
  }

  serve(): void {
    this.#isScheduled = false;
    this.serveUntil(this.clock.monotonic() + SERVED_MILLISECONDS);
  }

  /** Serves it when it is its client's turn. */
  protected schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    fairScheduler.add(this.#address, this);
  }

  protected noteActivity(): void {
    this.lastActive = this.clock.monotonic();
  }

  protected hold(more: number): void {
    if (this.isGone || more === 0) return;
    this.heldOctets += more;
    this.#events.onHeld(this, more);
  }

  /** From now on only the time of an ending connection counts. */
  protected limitEnd(): void {
    this.#timer.cancel();
    if (!this.isGone) this.#timer = this.clock.after(this.limits.endingMilliseconds, () => this.destroy());
  }

  protected onClose(): void {
    if (this.isGone) return;
    this.#timer.cancel();
    this.hold(-this.heldOctets);
    this.isGone = true;
    this.#events.onEnd(this, this.reason);
  }

  #hasBeenInactiveFor(milliseconds: number): boolean {
    return this.clock.monotonic() - this.lastActive >= milliseconds;
  }

  #watch(activity: ConnectionActivity): Timer {
    const { idleMilliseconds, writeMilliseconds = idleMilliseconds, ageMilliseconds } = this.limits;
    const now = this.clock.monotonic();
    // The activity, and so the limit that applies, may change before the time is over.
    const due = Math.min(
      this.lastActive + this.#maxInactive(activity),
      now + Math.min(idleMilliseconds, writeMilliseconds),
      this.#opened + ageMilliseconds,
    );
    return this.clock.after(Math.max(1, due - now), () => this.#onTime());
  }

  /** In milliseconds since `lastActive`. */
  #maxInactive(activity: ConnectionActivity): number {
    const { idleMilliseconds, readMilliseconds, writeMilliseconds } = this.limits;
    if (activity === 'unread') return writeMilliseconds ?? idleMilliseconds;
    return (activity === 'new' ? readMilliseconds : undefined) ?? idleMilliseconds;
  }

  #onTime(): void {
    const activity = this.#activity;
    if (this.clock.monotonic() - this.#opened >= this.limits.ageMilliseconds) this.end('age');
    else if (!this.#hasBeenInactiveFor(this.#maxInactive(activity))) this.#timer = this.#watch(activity);
    else if (activity === 'unread') this.destroy();
    else if (activity === 'pending') {
      // With answers pending, the connection is not idle.
      this.noteActivity();
      this.#timer = this.#watch(activity);
    } else this.end('idle');
  }
}
