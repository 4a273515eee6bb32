/**
 * One TCP or TLS connection to a server, with many queries in flight, answered in any order (RFC 7766 section 6.2.1.1).
 */
import type { Socket } from 'node:net';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { findDescriptor } from '../../base/descriptors.ts';
import { acknowledge } from '../../socket/connected-tcp.ts';
import { batchesAvailable } from '../../socket/libc.ts';
import { Outstanding, type OutstandingQuery } from './outstanding.ts';
import type { TimedReply } from './pipeline-depth.ts';
import { CONNECTION_CLOSED, CONNECTION_LOSSES, type DroppedPackets, toErrorCode } from './transport.ts';

/** A query on a connection. The connection sets all but what `OutstandingQuery` has. */
export interface ConnectionQuery extends OutstandingQuery {
  /** By the clock's monotonic time. */
  sentAt: number;
  /** Its place among the queries of its connection, from 1. */
  order: number;
  /** Whether others were in flight when it was sent. */
  isBehind: boolean;
}

export interface ClosedConnection<Entry> {
  /** The network's error, or `connection closed`. */
  readonly code: string;
  /** Queries that got no reply. */
  readonly unanswered: readonly Entry[];
  /** Queries that got one. */
  readonly answered: number;
  /** Milliseconds from its last reply to the next query; negative or 0 if that was in flight then. */
  readonly idle: number;
  /** Whether it was ever set up. */
  readonly wasReady: boolean;
  /** Whether the server has ended it: neither the network nor we, who close it after too much that was no reply. */
  readonly isByServer: boolean;
}

export interface UpstreamConnectionEvents<Entry> {
  /** It has answered a query, and may have room for another. */
  replied(reply: TimedReply): void;
  /** It was closed by the server, by the network, or for what the server sent. */
  closed(closed: ClosedConnection<Entry>): void;
}

/** Consecutive messages that answer no query, after which the connection is closed. */
const MAX_STRANGE = 100;
/** Places for queries: more than are sent at a time, so that a random id is soon free. */
const PLACES = 256;

export class UpstreamConnection<Entry extends ConnectionQuery> {
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
  readonly openedAt: number;
  #readyAt = Number.NEGATIVE_INFINITY;
  #repliedAt = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #answered = 0;
  /** The latest query that was answered. */
  #lastOrder = 0;

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
    this.#outstanding = new Outstanding(dropped, undefined, PLACES);
    this.#clock = clock;
    this.#idleMilliseconds = idleMilliseconds;
    this.#events = events;
    this.lastHeard = clock.monotonic();
    this.openedAt = this.lastHeard;
    socket.setNoDelay(true);
    socket.unref();
    let code: string = CONNECTION_CLOSED;
    socket.once(readyEvent, () => {
      this.#isReady = true;
      this.#readyAt = clock.monotonic();
    });
    socket.on('data', (chunk: Uint8Array) => this.#read(chunk));
    socket.on('error', (error) => {
      code = toErrorCode(error);
    });
    socket.on('close', () => this.#closed(code));
    // A server that ends its side will not answer any more.
    socket.on('end', () => {
      this.#isLeaving = true;
      socket.destroy();
    });
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

  /** Queries sent on it, and those that were answered. */
  get sent(): number {
    return this.#sent;
  }

  get answered(): number {
    return this.#answered;
  }

  /** @returns whether it had room for the query */
  ask(entry: Entry): boolean {
    const packet = this.#outstanding.add(entry);
    if (packet === undefined) return false;
    this.#sent += 1;
    entry.order = this.#sent;
    entry.isBehind = this.#outstanding.size > 1;
    entry.sentAt = this.#clock.monotonic();
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
      const entry = this.#outstanding.receive(message, 0, message.length, false);
      this.#strange = entry === undefined ? this.#strange + 1 : 0;
      if (entry !== undefined) this.#answer(entry);
      if (this.#strange > MAX_STRANGE) this.#socket.destroy();
    }
    if (this.#outstanding.size > 0) this.#acknowledge();
    this.#settle();
  }

  /** See `acknowledge`. */
  #acknowledge(): void {
    const fd = batchesAvailable() === true ? findDescriptor(this.#socket) : undefined;
    if (fd !== undefined) acknowledge(fd);
  }

  #answer({ sentAt, order, isBehind }: Entry): void {
    const now = this.lastHeard;
    const isOvertaken = order < this.#lastOrder;
    const from = Math.max(sentAt, this.#readyAt);
    const gap = now - Math.max(from, this.#repliedAt);
    this.#answered += 1;
    this.#repliedAt = now;
    this.#lastOrder = Math.max(this.#lastOrder, order);
    this.#events.replied({ elapsed: now - from, gap, isBehind, isOvertaken });
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
    const unanswered = this.#outstanding.takeAll();
    const next = unanswered.reduce((first, { sentAt }) => Math.min(first, sentAt), Number.POSITIVE_INFINITY);
    this.#events.closed({
      code,
      unanswered,
      idle: this.#answered === 0 ? 0 : next - this.#repliedAt,
      answered: this.#answered,
      wasReady: this.#isReady,
      isByServer: this.#strange <= MAX_STRANGE && CONNECTION_LOSSES.has(code),
    });
  }
}
