/**
 * The connections of a reader for queries over TCP: few, kept open, with many queries in flight on each (RFC 7766
 * sections 6.2.1 and 6.2.1.1).
 *
 * Readers do not wait for a connection: until one is open, questions for its server go to the main thread. A connection
 * with an overdue query that has been silent since gets no more queries, since it may be half open. Where a server closes a connection
 * after some queries, the next one is opened before.
 */
import { connectTcp, stateOfConnection } from '../../socket/connected-tcp.ts';
import type { QuestionReader } from '../../table/question.ts';
import { QueryBound } from '../transport/query-bound.ts';
import type { QueryForm } from './query-octets.ts';
import type { RouteServer } from './reader-policy.ts';
import { MAX_SOCKETS } from './shared-words.ts';
import type { SocketTable } from './socket-table.ts';
import { UpstreamStream } from './upstream-stream.ts';

/** Maximum of connections to a server. */
const MAX_CONNECTIONS = 4;
/** Maximum of queries in flight on one connection, if the server takes as many. */
const MAX_QUERIES = 64;
/** Queries in flight on each connection before another one is opened. */
const FULL_LOAD = 16;
/** Milliseconds for opening a connection, and between a failed attempt and the next. */
const OPEN_TIMEOUT = 2000;
const RETRY_INTERVAL = 1000;
/** Queries that open connections still take, with a bound on each, until another one is opened: those that come while it opens. */
const FEW_LEFT = 4;
/** Milliseconds for which a connection that the server has just sent data on is believed to be open: a look costs a system call. */
const RECENT = 100;
const NONE = -1;

/** A server queried over TCP, with its socket numbers. */
class StreamServer {
  server: StreamRouteServer;
  sockets: number[] = [];
  /** The connection of the last query. */
  last = NONE;
  readonly bound = new QueryBound();
  /** The earliest time to open a connection. */
  retryAt = Number.NEGATIVE_INFINITY;

  constructor(server: StreamRouteServer) {
    this.server = server;
  }

  /** Queries that one connection may carry, as the main thread's connections and those here have shown. */
  maxQueries(now: number): number {
    return Math.min(this.server.stream.maxQueries, this.bound.max(now));
  }
}

type StreamRouteServer = RouteServer & { readonly stream: NonNullable<RouteServer['stream']> };

function isStreamServer(server: RouteServer): server is StreamRouteServer {
  return server.stream !== undefined;
}

export class UpstreamStreams {
  readonly #table: SocketTable;
  /** Called for a connection that could not send its queries. */
  readonly #onBroken: (socket: number, errno: number) => void;
  /** By socket number. */
  readonly #streams: (UpstreamStream | undefined)[] = Array.from({ length: MAX_SOCKETS }, () => undefined);
  /** By number. */
  readonly #servers = new Map<number, StreamServer>();
  /** Sockets with octets to send. */
  readonly #dirty: number[] = [];
  /** Sockets that have received data since the last `rest`. */
  readonly #heard: number[] = [];

  constructor(table: SocketTable, onBroken: (socket: number, errno: number) => void) {
    this.#table = table;
    this.#onBroken = onBroken;
  }

  /** Serves exactly those of these servers that use TCP. */
  follow(servers: readonly RouteServer[]): void {
    const streamed = new Map(servers.filter(isStreamServer).map((server) => [server.number, server]));
    for (const [number, known] of this.#servers) {
      const server = streamed.get(number);
      if (server !== undefined) known.server = server;
      else {
        for (const socket of known.sockets) this.leave(socket);
        this.#servers.delete(number);
      }
    }
    for (const [number, server] of streamed)
      if (!this.#servers.has(number)) this.#servers.set(number, new StreamServer(server));
  }

  /** Whether a server is queried over TCP. */
  has(server: number): boolean {
    return this.#servers.size > 0 && this.#servers.has(server);
  }

  find(socket: number): UpstreamStream | undefined {
    return this.#streams[socket];
  }

  /** Picks the connection for the next query to a server, and counts the query as in flight; -1 if no open connection has room. */
  pick(server: number, now: number): number {
    const known = this.#servers.get(server);
    if (known === undefined) return NONE;
    const maxQueries = known.maxQueries(now);
    if (this.#takesMore(known, maxQueries)) return this.#take(known, known.last, now);
    let best = NONE;
    let load = Math.min(MAX_QUERIES, known.server.stream.depth);
    let left = 0;
    // A connection that is closed or left gets a list without it: this one stays as it is.
    for (const socket of known.sockets) {
      const stream = this.#streams[socket];
      if (stream === undefined) continue;
      const isUsable = this.#isUsable(known, socket, stream, now);
      // One that is still opening will take queries too.
      if (isUsable || !stream.isOpen) left += maxQueries - stream.sent;
      if (isUsable && stream.pending < load) [best, load] = [socket, stream.pending];
    }
    const isNearEnd = left <= Math.min(FEW_LEFT, maxQueries);
    if (this.#wantsAnother(known, load, isNearEnd, now)) this.#open(known, now);
    return this.#take(known, best, now);
  }

  #take(known: StreamServer, socket: number, now: number): number {
    const stream = this.#streams[socket];
    if (stream === undefined) return NONE;
    stream.pending += 1;
    stream.sent += 1;
    stream.usedAt = now;
    known.last = socket;
    return socket;
  }

  /** Whether the connection of the last query has not sent it yet and takes another: those of a batch leave, and return, together. */
  #takesMore({ server, last }: StreamServer, maxQueries: number): boolean {
    const stream = this.#streams[last];
    if (stream === undefined || !stream.isDirty || stream.isLeaving) return false;
    const { minConnections, depth } = server.stream;
    return (
      minConnections === 1 &&
      stream.pending < Math.min(MAX_QUERIES, depth) &&
      // Near its bound, `pick` opens the next connection.
      stream.sent + FEW_LEFT < maxQueries
    );
  }

  /** Checks for a silent end of a connection that is opening, or that has been without queries in flight. */
  #isUsable(known: StreamServer, socket: number, stream: UpstreamStream, now: number): boolean {
    const { maxAge } = known.server.stream;
    if ((maxAge > 0 && now - stream.openedAt > maxAge) || stream.sent >= known.maxQueries(now)) {
      this.leave(socket);
      return false;
    }
    if (stream.isOpen && (stream.pending > 0 || now - stream.heardAt < RECENT)) return true;
    const state = stateOfConnection(stream.fd);
    if (state === 'open') {
      stream.isOpen = true;
      return true;
    }
    if (state === 'opening' && now - stream.openedAt < OPEN_TIMEOUT) return false;
    if (!stream.isOpen) known.retryAt = now + RETRY_INTERVAL;
    this.noteEnd(socket, now);
    this.close(socket);
    return false;
  }

  /**
   * @param load queries in flight on the least loaded connection
   * @param isNearEnd whether all connections together take few more queries
   */
  #wantsAnother(
    { server, sockets, retryAt }: StreamServer,
    load: number,
    isNearEnd: boolean,
    now: number,
  ): boolean {
    const { minConnections, maxConnections, depth } = server.stream;
    const fullLoad = sockets.length < minConnections ? 1 : Math.min(FULL_LOAD, depth);
    const max = Math.min(maxConnections, MAX_CONNECTIONS);
    return (isNearEnd || load >= fullLoad) && sockets.length < max && now >= retryAt;
  }

  /** Call it for a connection that its server has ended, and for no other, before its queries are finished. */
  noteEnd(socket: number, now: number): void {
    const stream = this.#streams[socket];
    if (stream === undefined || !stream.isOpen) return;
    const answered = stream.sent - stream.pending;
    const until = stream.pending > 0 ? stream.usedAt : now;
    this.#servers
      .get(this.#table.servers[socket] ?? 0)
      ?.bound.noteClosed(answered, until - stream.heardAt, now);
  }

  #open(known: StreamServer, now: number): void {
    const { number, peer } = known.server;
    const socket = this.#table.add(number, () => connectTcp(peer));
    if (socket < 0) {
      known.retryAt = now + RETRY_INTERVAL;
      return;
    }
    known.sockets.push(socket);
    this.#streams[socket] = new UpstreamStream(this.#table.fds[socket] ?? NONE, now);
  }

  /** Adds a query; `flush` sends it. @param passed octets of its options that are passed on */
  add(socket: number, id: number, question: QuestionReader, form: QueryForm, passed: number): void {
    const stream = this.#streams[socket];
    if (stream === undefined) return;
    if (!stream.hasRoom) this.#flush(socket, stream);
    if (!stream.isDirty) this.#dirty.push(socket);
    stream.add(id, question, form, passed);
  }

  flush(): void {
    if (this.#dirty.length === 0) return;
    for (const socket of this.#dirty.splice(0)) {
      const stream = this.#streams[socket];
      if (stream !== undefined) this.#flush(socket, stream);
    }
  }

  #flush(socket: number, stream: UpstreamStream): void {
    const errno = stream.flush();
    if (errno !== 0) this.#onBroken(socket, errno);
  }

  /** Receives pending octets of a connection. @returns 0, or the error number: the connection has ended */
  receive(socket: number, stream: UpstreamStream, now: number): number {
    if (!stream.owesAcknowledgement) this.#heard.push(socket);
    return stream.receive(now);
  }

  /** Call it before the thread waits: acknowledges what no query has acknowledged. */
  rest(): void {
    if (this.#heard.length === 0) return;
    for (const socket of this.#heard.splice(0)) this.#streams[socket]?.acknowledgeIfOwed();
  }

  /** Call it when a query is finished. */
  release(socket: number): void {
    const stream = this.#streams[socket];
    if (stream === undefined) return;
    stream.pending = Math.max(0, stream.pending - 1);
    if (stream.isLeaving && stream.pending === 0) this.close(socket);
  }

  /** A query sent at this time is overdue. */
  overdue(socket: number, askedAt: number): void {
    const stream = this.#streams[socket];
    if (stream !== undefined && stream.heardAt < askedAt) this.leave(socket);
  }

  /** Stops using a connection for new queries. */
  leave(socket: number): void {
    const stream = this.#streams[socket];
    if (stream === undefined) return;
    stream.isLeaving = true;
    this.#forget(socket);
    if (stream.pending === 0) this.close(socket);
  }

  /** Closes a connection. Finish its queries first. */
  close(socket: number): void {
    this.#forget(socket);
    this.#streams[socket] = undefined;
    this.#table.close(socket);
  }

  #forget(socket: number): void {
    const known = this.#servers.get(this.#table.servers[socket] ?? 0);
    if (known === undefined) return;
    known.sockets = known.sockets.filter((other) => other !== socket);
    // The next connection of any server may get its number.
    if (known.last === socket) known.last = NONE;
  }

  /** Closes connections that have been idle for long, so that an idle server holds no connections. */
  sweep(now: number): void {
    for (const { server, sockets } of this.#servers.values())
      for (const socket of sockets) {
        const stream = this.#streams[socket];
        const isQuiet = stream?.pending === 0 && now - stream.usedAt > server.stream.idle;
        if (isQuiet) this.close(socket);
      }
  }
}
