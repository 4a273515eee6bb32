/**
 * One TCP or TLS connection to a server, with many queries under way on it, answered in any order (RFC 7766 section 6.2.1.1).
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../base/clock.ts';
import { FrameParser, frame } from '../../wire/frames.ts';
import { type Asked, Outstanding } from './outstanding.ts';
import { codeOf, type DroppedPackets } from './transport.ts';

export interface ConnectionEvents<Entry> {
  /** It is closed; these queries had no reply. @param wasReady whether it was ever set up */
  closed(code: string, unanswered: readonly Entry[], wasReady: boolean): void;
}

/** Messages that answer nothing, in a row, after which the other side is not worth listening to. */
const MAX_STRANGE = 100;

export class StreamConnection<Entry extends Asked> {
  readonly #socket: Socket;
  readonly #outstanding: Outstanding<Entry>;
  readonly #frames = new FrameParser();
  readonly #clock: Clock;
  readonly #idleMilliseconds: number;
  readonly #events: ConnectionEvents<Entry>;
  #idle: Timer | undefined;
  #isReady = false;
  #isClosed = false;
  #isCorked = false;
  #strange = 0;
  /** Whether it takes no new queries, and closes when the last one is done with. */
  #isLeaving = false;
  /** When something was heard last, of the clock's monotonic time. */
  lastHeard: number;

  /** @param readyEvent the event of `socket` that says that it is set up */
  constructor(
    socket: Socket,
    readyEvent: 'connect' | 'secureConnect',
    dropped: DroppedPackets,
    clock: Clock,
    idleMilliseconds: number,
    events: ConnectionEvents<Entry>,
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
    // A server that ends its side will answer nothing more.
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

  /** Waits no longer for the reply to a query. */
  forget(entry: Entry): void {
    this.#outstanding.remove(entry);
    this.#settle();
  }

  /** Takes no more queries, and closes once those under way are done with. */
  leave(): void {
    this.#isLeaving = true;
    this.#settle();
  }

  /** Closes without a word. */
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
