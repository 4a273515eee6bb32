/**
 * One client's connection before its protocol begins, with a header of a proxy or a TLS handshake. Until that is over, it is idle: its
 * place can be given to another client. Then it is the connection of the protocol inside.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import type { ConnectionEvents, ConnectionLimits, EndReason, ServedConnection } from './served-connection.ts';

/** Serves the protocol. */
type OpenProtocol = (events: ConnectionEvents) => ServedConnection;

export class OpeningConnection implements ServedConnection {
  readonly #socket: Socket;
  readonly #opened: number;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents;
  readonly #timer: Timer;
  #inside: ServedConnection | undefined;
  #reason: EndReason;
  #isLeaving = false;
  #isGone = false;

  /** @param reason why it ends if its socket is closed before `opened` */
  constructor(
    socket: Socket,
    reason: EndReason,
    { idleMilliseconds, readMilliseconds = idleMilliseconds }: ConnectionLimits,
    clock: Clock,
    events: ConnectionEvents,
  ) {
    this.#socket = socket;
    this.#reason = reason;
    this.#clock = clock;
    this.#events = events;
    this.#opened = clock.monotonic();
    this.#timer = clock.after(readMilliseconds, () => this.cut('idle'));
    socket.on('error', () => {});
    socket.on('close', () => this.#onClose());
  }

  get queries(): number {
    return this.#inside?.queries ?? 0;
  }

  get lastActive(): number {
    return this.#inside?.lastActive ?? this.#opened;
  }

  get heldOctets(): number {
    return this.#inside?.heldOctets ?? 0;
  }

  get isIdle(): boolean {
    return this.#inside?.isIdle ?? true;
  }

  leave(): void {
    this.#isLeaving = true;
    this.#inside?.leave();
  }

  endIfIdleFor(milliseconds: number): void {
    if (this.#inside !== undefined) this.#inside.endIfIdleFor(milliseconds);
    else if (this.#clock.monotonic() - this.#opened >= milliseconds) this.cut('idle');
  }

  cut(reason: EndReason): void {
    if (this.#inside !== undefined) {
      this.#inside.cut(reason);
      return;
    }
    this.#reason = reason;
    this.#socket.destroy();
    // Its place is needed now, but 'close' comes later.
    this.#onClose();
  }

  destroy(): void {
    if (this.#inside === undefined) this.#socket.destroy();
    else this.#inside.destroy();
  }

  /** What precedes the protocol is over. @returns false if the connection has ended */
  opened(open: OpenProtocol): boolean {
    this.#timer.cancel();
    if (this.#isGone) return false;
    this.#inside = open({
      onEnd: (_, reason) => this.#leaveTable(reason),
      onHeld: (_, more) => this.#events.onHeld(this, more),
    });
    if (this.#isLeaving) this.#inside.leave();
    return true;
  }

  #onClose(): void {
    this.#timer.cancel();
    if (this.#inside === undefined) this.#leaveTable(this.#reason);
  }

  #leaveTable(reason: EndReason): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#events.onEnd(this, reason);
  }
}
