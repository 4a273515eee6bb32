/**
 * One client's connection that begins with a TLS handshake. Until the handshake is over, it is idle: its place can be given to another
 * client. Then it is the connection of the protocol inside.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../base/clock.ts';
import type { TlsServer } from './secure/tls-server.ts';
import type { ConnectionEvents, ConnectionLimits, EndReason, ServedConnection } from './served-connection.ts';

/** Serves the protocol on a socket. */
export type OpenProtocol = (socket: Socket | TLSSocket, events: ConnectionEvents) => ServedConnection;

export class SecureConnection implements ServedConnection {
  readonly #socket: Socket;
  readonly #opened: number;
  readonly #clock: Clock;
  readonly #events: ConnectionEvents;
  readonly #timer: Timer;
  #inside: ServedConnection | undefined;
  #reason: EndReason = 'handshake';
  #isLeaving = false;
  #isGone = false;

  constructor(
    socket: Socket,
    tls: TlsServer,
    open: OpenProtocol,
    { idleMilliseconds, readMilliseconds = idleMilliseconds }: ConnectionLimits,
    clock: Clock,
    events: ConnectionEvents,
  ) {
    this.#socket = socket;
    this.#clock = clock;
    this.#events = events;
    this.#opened = clock.monotonic();
    this.#timer = clock.after(readMilliseconds, () => this.cut('idle'));
    socket.on('error', () => {});
    socket.on('close', () => this.#onClose());
    tls.secure(socket, (secured) => this.#onSecure(secured, open));
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

  #onSecure(secured: TLSSocket, open: OpenProtocol): void {
    this.#timer.cancel();
    if (this.#isGone) {
      secured.destroy();
      return;
    }
    this.#inside = open(secured, {
      onEnd: (_, reason) => this.#leaveTable(reason),
      onHeld: (_, more) => this.#events.onHeld(this, more),
    });
    if (this.#isLeaving) this.#inside.leave();
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
