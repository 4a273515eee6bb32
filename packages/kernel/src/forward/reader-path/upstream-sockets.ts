/**
 * A reader's sockets for queries, each connected to a server from a random port of the system's choice.
 *
 * While a server gets few queries, each query has its own socket. Above that rate, queries share a pool: each socket
 * serves a bounded number of queries for a bounded time, and each batch uses a random one.
 * `forward/transport/udp-transport.ts` does the same on the main thread, and explains why.
 */
import { connectUdp } from '../../socket/connected-udp.ts';
import { randomId } from '../transport/random-ids.ts';
import type { RouteServer } from './reader-policy.ts';
import { MAX_SOCKETS } from './shared-words.ts';
import type { SocketTable } from './socket-table.ts';

/** Sockets in the pool of a server, if there is room; all pools together have at most this share of the sockets. */
const POOL = 16;
const POOLS_SHARE = 0.75;
const QUERIES_PER_SOCKET = 256;
const MILLISECONDS_PER_SOCKET = 5_000;
/** Queries on one socket before the next random choice. */
const QUERIES_IN_A_ROW = 32;
/** Up to this many queries a second to a server, each has its own socket. */
const SINGLE_PER_SECOND = 200;
const NONE = -1;

/** The state of one server. */
class ServerSockets {
  readonly server: RouteServer;
  readonly pool = new Int8Array(POOL).fill(NONE);
  current = NONE;
  inRow = 0;
  rowAt = 0;
  #secondAt = 0;
  #inSecond = 0;
  #inSecondBefore = 0;

  constructor(server: RouteServer) {
    this.server = server;
  }

  /** Counts a query. @returns whether the rate is low enough for one socket per query */
  countsFew(now: number): boolean {
    if (now - this.#secondAt >= 1000) {
      this.#inSecondBefore = now - this.#secondAt < 2000 ? this.#inSecond : 0;
      this.#inSecond = 0;
      this.#secondAt = now;
    }
    this.#inSecond += 1;
    return Math.max(this.#inSecond, this.#inSecondBefore) <= SINGLE_PER_SECOND;
  }
}

export class UpstreamSockets {
  /** Suspicious packets received, per socket. */
  readonly suspicious = new Uint8Array(MAX_SOCKETS);
  readonly #table: SocketTable;
  readonly #pending = new Uint16Array(MAX_SOCKETS);
  readonly #uses = new Uint16Array(MAX_SOCKETS);
  readonly #retireAt = new Float64Array(MAX_SOCKETS);
  /** Whether to close a socket once no query is in flight on it. */
  readonly #isLeaving = new Uint8Array(MAX_SOCKETS);
  /** By number. */
  readonly #known = new Map<number, ServerSockets>();
  #poolSize = POOL;
  #sweepAt = 0;

  constructor(table: SocketTable) {
    this.#table = table;
  }

  /** Serves exactly these servers from now on. */
  follow(servers: readonly RouteServer[]): void {
    const size = Math.floor((this.#table.max * POOLS_SHARE) / Math.max(1, servers.length));
    const poolSize = Math.min(POOL, Math.max(1, size));
    const listed = new Set(servers.map(({ number }) => number));
    for (const [number, known] of this.#known) {
      if (listed.has(number) && poolSize >= this.#poolSize) continue;
      this.#leaveFrom(known, listed.has(number) ? poolSize : 0);
      if (!listed.has(number)) this.#known.delete(number);
    }
    this.#poolSize = poolSize;
    for (const server of servers)
      if (!this.#known.has(server.number)) this.#known.set(server.number, new ServerSockets(server));
  }

  /** Picks the socket for the next query to a server, and counts the query as in flight; -1 if a socket cannot be opened. */
  pick(server: number, now: number): number {
    const known = this.#known.get(server);
    if (known === undefined) return NONE;
    const { open, max } = this.#table;
    const isSingle = known.countsFew(now) && open < max - this.#poolSize * this.#known.size;
    const socket = isSingle ? this.#openSocket(known, now) : this.#pickFromPool(known, now);
    if (socket < 0) return NONE;
    this.#pending[socket] = (this.#pending[socket] ?? 0) + 1;
    this.#uses[socket] = (this.#uses[socket] ?? 0) + 1;
    return socket;
  }

  /** Call it when a query of a socket is finished. */
  release(socket: number): void {
    const left = Math.max(0, (this.#pending[socket] ?? 0) - 1);
    this.#pending[socket] = left;
    if (left === 0 && this.#isLeaving[socket] === 1) this.#table.close(socket);
  }

  /** Stops using a socket because a forger has found it. */
  abandon(socket: number): void {
    const known = this.#known.get(this.#table.servers[socket] ?? 0);
    const place = known?.pool.indexOf(socket) ?? NONE;
    if (known !== undefined && place >= 0) this.#leave(known, place);
    else this.#isLeaving[socket] = 1;
    if (this.#pending[socket] === 0) this.#table.close(socket);
  }

  /** Retires sockets at the end of their time, so that an idle server holds no sockets. */
  sweep(now: number): void {
    if (this.#table.open === 0 || now < this.#sweepAt) return;
    this.#sweepAt = now + 1000;
    for (const known of this.#known.values())
      for (const [place, socket] of known.pool.entries())
        if (socket >= 0 && now >= (this.#retireAt[socket] ?? 0)) this.#leave(known, place);
  }

  #pickFromPool(known: ServerSockets, now: number): number {
    const isFull = known.inRow >= QUERIES_IN_A_ROW || now !== known.rowAt;
    if (known.current !== NONE && !isFull) {
      known.inRow += 1;
      return known.current;
    }
    known.current = this.#freshSocket(known, randomId() % this.#poolSize, now);
    known.inRow = 1;
    known.rowAt = now;
    return known.current;
  }

  #freshSocket(known: ServerSockets, place: number, now: number): number {
    const old = known.pool[place] ?? NONE;
    const isFresh =
      old >= 0 && (this.#uses[old] ?? 0) < QUERIES_PER_SOCKET && now < (this.#retireAt[old] ?? 0);
    if (isFresh) return old;
    const socket = this.#openSocket(known, now);
    // An old socket is better than no socket.
    if (socket < 0) return old;
    this.#isLeaving[socket] = 0;
    if (old >= 0) this.#leave(known, place);
    known.pool[place] = socket;
    return socket;
  }

  /** Opens a socket that closes after its only query, unless it joins the pool. */
  #openSocket({ server }: ServerSockets, now: number): number {
    const connect = () => connectUdp({ peer: server.peer, source: undefined, shared: false });
    const socket = this.#table.add(server.number, connect);
    if (socket < 0) return NONE;
    this.suspicious[socket] = 0;
    this.#pending[socket] = 0;
    this.#uses[socket] = 0;
    this.#retireAt[socket] = now + MILLISECONDS_PER_SOCKET;
    this.#isLeaving[socket] = 1;
    return socket;
  }

  /** Removes the sockets from a place on from a pool. */
  #leaveFrom(known: ServerSockets, first: number): void {
    for (const [place, socket] of known.pool.entries())
      if (place >= first && socket >= 0) this.#leave(known, place);
  }

  /** Removes a socket from its pool. */
  #leave(known: ServerSockets, place: number): void {
    const socket = known.pool[place] ?? NONE;
    known.pool[place] = NONE;
    if (known.current === socket) known.current = NONE;
    this.#isLeaving[socket] = 1;
    if (this.#pending[socket] === 0) this.#table.close(socket);
  }
}
