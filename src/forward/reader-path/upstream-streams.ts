/**
 * The connections by which a reader asks upstream over TCP: few, kept open, with many queries under way on each (RFC 7766 sections
 * 6.2.1 and 6.2.1.1).
 *
 * None is waited for: until a connection is open, the questions for its server are for the main thread. A connection on which a query
 * is overdue, and that has been silent since, gets no more queries, since it may be half open.
 */
import { connectTcp, stateOfConnection } from '../../socket/connected-tcp.ts';
import type { QuestionReader } from '../../table/question.ts';
import type { QueryForm } from './query-octets.ts';
import type { RouteServer } from './reader-policy.ts';
import { MAX_SOCKETS } from './shared-words.ts';
import type { SocketTable } from './socket-table.ts';
import { UpstreamStream } from './upstream-stream.ts';

/** Connections to a server at most. */
const MAX_CONNECTIONS = 4;
/** Queries under way on one connection at most. */
const MAX_QUERIES = 64;
/** Queries under way on each connection before another one is opened. */
const FULL_LOAD = 16;
/** Milliseconds that a connection may take to open, and that pass until one is opened again that did not. */
const OPEN_TIMEOUT = 2000;
const RETRY_INTERVAL = 1000;
const NONE = -1;

/** A server that is asked over TCP, with the numbers of its sockets. */
class StreamServer {
  server: StreamRouteServer;
  sockets: number[] = [];
  /** Before it, no connection is opened. */
  retryAt = Number.NEGATIVE_INFINITY;

  constructor(server: StreamRouteServer) {
    this.server = server;
  }
}

type StreamRouteServer = RouteServer & { readonly stream: NonNullable<RouteServer['stream']> };

function isStreamServer(server: RouteServer): server is StreamRouteServer {
  return server.stream !== undefined;
}

export class UpstreamStreams {
  readonly #table: SocketTable;
  /** Called with a connection that did not take what was to be sent. */
  readonly #onBroken: (socket: number, errno: number) => void;
  /** By the number of the socket. */
  readonly #streams: (UpstreamStream | undefined)[] = Array.from({ length: MAX_SOCKETS }, () => undefined);
  /** By number. */
  readonly #servers = new Map<number, StreamServer>();
  /** Sockets with something to send. */
  readonly #dirty: number[] = [];

  constructor(table: SocketTable, onBroken: (socket: number, errno: number) => void) {
    this.#table = table;
    this.#onBroken = onBroken;
  }

  /** Knows those of these servers from now on that are asked over TCP, and no others. */
  follow(servers: readonly RouteServer[]): void {
    const streamed = new Map(servers.filter(isStreamServer).map((server) => [server.number, server]));
    for (const [number, known] of this.#servers) {
      const server = streamed.get(number);
      if (server !== undefined) known.server = server;
      else {
        for (const socket of [...known.sockets]) this.leave(socket);
        this.#servers.delete(number);
      }
    }
    for (const [number, server] of streamed)
      if (!this.#servers.has(number)) this.#servers.set(number, new StreamServer(server));
  }

  /** Whether a server is asked over TCP. */
  has(server: number): boolean {
    return this.#servers.size > 0 && this.#servers.has(server);
  }

  find(socket: number): UpstreamStream | undefined {
    return this.#streams[socket];
  }

  /** The connection for the next query to a server, which then has one more under way; -1: there is none that is open, and has room. */
  pick(server: number, now: number): number {
    const known = this.#servers.get(server);
    if (known === undefined) return NONE;
    let [best, load] = [NONE, MAX_QUERIES];
    for (const socket of [...known.sockets]) {
      const stream = this.#streams[socket];
      if (stream === undefined || !this.#isUsable(known, socket, stream, now)) continue;
      if (stream.pending < load) [best, load] = [socket, stream.pending];
    }
    if (this.#wantsAnother(known, load, now)) this.#open(known, now);
    const stream = this.#streams[best];
    if (stream === undefined) return NONE;
    stream.pending += 1;
    stream.usedAt = now;
    return best;
  }

  /** Looks at a connection that may have ended without a word: one that is opening, or that nothing is under way on. */
  #isUsable(known: StreamServer, socket: number, stream: UpstreamStream, now: number): boolean {
    const { maxAge } = known.server.stream;
    if (maxAge > 0 && now - stream.openedAt > maxAge) {
      this.leave(socket);
      return false;
    }
    if (stream.isOpen && stream.pending > 0) return true;
    const state = stateOfConnection(stream.fd);
    if (state === 'open') {
      stream.isOpen = true;
      return true;
    }
    if (state === 'opening' && now - stream.openedAt < OPEN_TIMEOUT) return false;
    if (!stream.isOpen) known.retryAt = now + RETRY_INTERVAL;
    this.close(socket);
    return false;
  }

  /** @param load of the connection with the fewest queries under way */
  #wantsAnother({ server, sockets, retryAt }: StreamServer, load: number, now: number): boolean {
    const { minConnections, maxConnections } = server.stream;
    const fullLoad = sockets.length < minConnections ? 1 : FULL_LOAD;
    const max = Math.min(maxConnections, MAX_CONNECTIONS);
    return load >= fullLoad && sockets.length < max && now >= retryAt;
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

  /** Adds a query, which leaves with the next `flush`. */
  add(socket: number, id: number, question: QuestionReader, form: QueryForm): void {
    const stream = this.#streams[socket];
    if (stream === undefined) return;
    if (!stream.hasRoom) this.#flush(socket, stream);
    if (!stream.isDirty) this.#dirty.push(socket);
    stream.add(id, question, form);
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

  /** A query is done with. */
  release(socket: number): void {
    const stream = this.#streams[socket];
    if (stream === undefined) return;
    stream.pending = Math.max(0, stream.pending - 1);
    if (stream.isLeaving && stream.pending === 0) this.close(socket);
  }

  /** A query is overdue that left at this time. */
  overdue(socket: number, askedAt: number): void {
    const stream = this.#streams[socket];
    if (stream !== undefined && stream.heardAt < askedAt) this.leave(socket);
  }

  /** Gives a connection no more queries. */
  leave(socket: number): void {
    const stream = this.#streams[socket];
    if (stream === undefined) return;
    stream.isLeaving = true;
    this.#forget(socket);
    if (stream.pending === 0) this.close(socket);
  }

  /** Closes a connection; what is under way on it must be done with. */
  close(socket: number): void {
    this.#forget(socket);
    this.#streams[socket] = undefined;
    this.#table.close(socket);
  }

  #forget(socket: number): void {
    const known = this.#servers.get(this.#table.servers[socket] ?? 0);
    if (known !== undefined) known.sockets = known.sockets.filter((other) => other !== socket);
  }

  /** Closes connections that have been quiet for long, so that a quiet server holds none. */
  sweep(now: number): void {
    for (const { server, sockets } of this.#servers.values())
      for (const socket of [...sockets]) {
        const stream = this.#streams[socket];
        const isQuiet = stream?.pending === 0 && now - stream.usedAt > server.stream.idle;
        if (isQuiet) this.close(socket);
      }
  }
}
