/**
 * The sockets by which a reader asks upstream, each connected to a server and with a port of the system's random choice.
 *
 * As long as few queries leave for a server, each has a socket of its own. Above, they share a pool: each socket serves a bounded number of
 * queries and a bounded time, and the socket for the queries of a batch is drawn by chance. `forward/transport/udp-transport.ts` does
 * the same on the main thread, and says why.
 */
import { connectUdp } from '../../socket/connected-udp.ts';
import { randomId } from '../transport/random-ids.ts';
import type { RouteServer } from './reader-policy.ts';
import { MAX_SOCKETS } from './shared-words.ts';
import type { SocketTable } from './socket-table.ts';

/** Sockets of the pool of a server, where there is room for so many; all pools together have at most this share of the sockets. */
const POOL = 16;
const POOLS_SHARE = 0.75;
const QUERIES_PER_SOCKET = 1024;
const MILLISECONDS_PER_SOCKET = 20_000;
/** Queries that leave by the socket of one draw. */
const QUERIES_IN_A_ROW = 32;
/** Queries a second to a server up to which each has a socket of its own. */
const SINGLE_PER_SECOND = 200;
const NONE = -1;

/** What is known of one server. */
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

  /** Counts a query. @returns whether so few leave that each may have a socket of its own */
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
  /** Packets of a forger that each has received. */
  readonly suspicious = new Uint8Array(MAX_SOCKETS);
  readonly #table: SocketTable;
  readonly #pending = new Uint16Array(MAX_SOCKETS);
  readonly #uses = new Uint16Array(MAX_SOCKETS);
  readonly #retireAt = new Float64Array(MAX_SOCKETS);
  /** Closed when no query of theirs is under way any more. */
  readonly #isLeaving = new Uint8Array(MAX_SOCKETS);
  /** By number. */
  readonly #known = new Map<number, ServerSockets>();
  #poolSize = POOL;
  #sweepAt = 0;

  constructor(table: SocketTable) {
    this.#table = table;
  }

  /** Knows these servers from now on, and no others. */
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

  /** The socket for the next query to a server, which then has one more under way; -1 if none can be opened. */
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

  /** A query of a socket is done with. */
  release(socket: number): void {
    const left = Math.max(0, (this.#pending[socket] ?? 0) - 1);
    this.#pending[socket] = left;
    if (left === 0 && this.#isLeaving[socket] === 1) this.#table.close(socket);
  }

  /** Uses a socket no more, as a forger has found it. */
  abandon(socket: number): void {
    const known = this.#known.get(this.#table.servers[socket] ?? 0);
    const place = known?.pool.indexOf(socket) ?? NONE;
    if (known !== undefined && place >= 0) this.#leave(known, place);
    else this.#isLeaving[socket] = 1;
    if (this.#pending[socket] === 0) this.#table.close(socket);
  }

  /** Closes sockets whose time is over, so that a quiet server holds none. */
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
    // Rather an old one than none.
    if (socket < 0) return old;
    this.#isLeaving[socket] = 0;
    if (old >= 0) this.#leave(known, place);
    known.pool[place] = socket;
    return socket;
  }

  /** Opens a socket that leaves with its only query, unless it joins the pool. */
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

  /** Takes the sockets out of a pool that lie at a place or behind it. */
  #leaveFrom(known: ServerSockets, first: number): void {
    for (const [place, socket] of known.pool.entries())
      if (place >= first && socket >= 0) this.#leave(known, place);
  }

  /** Takes a socket out of its pool. */
  #leave(known: ServerSockets, place: number): void {
    const socket = known.pool[place] ?? NONE;
    known.pool[place] = NONE;
    if (known.current === socket) known.current = NONE;
    this.#isLeaving[socket] = 1;
    if (this.#pending[socket] === 0) this.#table.close(socket);
  }
}
