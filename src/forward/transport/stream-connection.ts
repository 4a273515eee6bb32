/**
 * One TCP or TLS connection to a server, with many queries in flight, answered in any order (RFC 7766 section 6.2.1.1).
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../base/clock.ts';
import { FrameParser, frame } from '../../wire/frames.ts';
import { Outstanding, type OutstandingQuery } from './outstanding.ts';
import { codeOf, type DroppedPackets } from './transport.ts';

export interface UpstreamConnectionEvents<Entry> {
  /** It is closed; these queries got no reply. @param wasReady whether it was ever set up */
  closed(code: string, unanswered: readonly Entry[], wasReady: boolean): void;
}

/** Consecutive messages that answer no query, after which the connection is closed. */
const MAX_STRANGE = 100;

export class UpstreamConnection<Entry extends OutstandingQuery> {
  readonly #socket: Socket;
  readonly #outstanding: Outstanding<Entry>;
  readonly #frames = new FrameParser();
  readonly #clock: Clock;
  readonly #idleMilliseconds: number;
  readonly #events: UpstreamConnectionEvents<Entry>;
  #idle: Timer | undefined;
  #isReady = false;
  #isClosed = false;
  #isCorked = false;
  #strange = 0;
  /** Whether it accepts no new queries, and closes after the last one in flight. */
  #isLeaving = false;
  /** When data was last received, by the clock's monotonic time. */
  lastHeard: number;

  /** @param readyEvent the event of `socket` for a completed setup */
  constructor(
    socket: Socket,
    readyEvent: 'connect' | 'secureConnect',
    dropped: DroppedPackets,
    clock: Clock,
    idleMilliseconds: number,
    events: UpstreamConnectionEvents<Entry>,
  ) {
    this.#socket = socket;
    this.#outstanding = new Outstanding(dropped);
    this.#clock = clock;
    this.#idleMilliseconds = idleMilliseconds;
    this.#events = events;
    this.lastHeard = clock.monotonic();
    socket.setNoDelay(true);
    socket.unref();
    let code = 'connection closed';
    socket.once(readyEvent, () => {
      this.#isReady = true;
    });
    socket.on('data', (chunk: Uint8Array) => this.#read(chunk));
    socket.on('error', (error) => {
      code = codeOf(error);
    });
    socket.on('close', () => this.#closed(code));
    // A server that ends its side will not answer any more.
    socket.on('end', () => socket.destroy());
  }

  get load(): number {
    return this.#outstanding.size;
  }

  get takesQueries(): boolean {
    return !this.#isLeaving && !this.#isClosed;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** @returns whether it had room for the query */
  ask(entry: Entry): boolean {
    const packet = this.#outstanding.add(entry);
    if (packet === undefined) return false;
    this.#idle?.cancel();
    this.#idle = undefined;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      setImmediate(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(frame(packet));
    return true;
  }

  /** Stops waiting for the reply to a query. */
  forget(entry: Entry): void {
    this.#outstanding.remove(entry);
    this.#settle();
  }

  /** Accepts no more queries, and closes after those in flight. */
  leave(): void {
    this.#isLeaving = true;
    this.#settle();
  }

  /** Closes at once, without events. */
  destroy(): void {
    this.#isClosed = true;
    this.#idle?.cancel();
    this.#outstanding.takeAll();
    this.#socket.destroy();
  }

  #read(chunk: Uint8Array): void {
    this.lastHeard = this.#clock.monotonic();
    for (const message of this.#frames.messages(chunk)) {
      if (this.#isClosed) return;
      const answered = this.#outstanding.receive(message, 0, message.length, false) !== undefined;
      this.#strange = answered ? 0 : this.#strange + 1;
      if (this.#strange > MAX_STRANGE) this.#socket.destroy();
    }
    this.#settle();
  }

  #settle(): void {
    if (this.#isClosed || this.#outstanding.size > 0) return;
    if (this.#isLeaving) this.destroy();
    else this.#idle ??= this.#clock.after(this.#idleMilliseconds, () => this.#end());
  }

  #end(): void {
    this.#isLeaving = true;
    this.#settle();
  }

  #closed(code: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#idle?.cancel();
    this.#events.closed(code, this.#outstanding.takeAll(), this.#isReady);
  }
}
