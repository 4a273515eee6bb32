/**
 * The sockets by which a reader asks upstream, each connected to the server and with a port of the system's random choice.
 *
 * As long as few queries leave, each has a socket of its own. Above, they share a pool: each socket serves a bounded number of
 * queries and a bounded time, and the socket for the queries of a batch is drawn by chance. `forward/transport/udp-transport.ts` does
 * the same on the main thread, and says why.
 */
import type { SocketAddress } from '../../socket/addresses.ts';
import { connectUdp } from '../../socket/connected-udp.ts';
import { closeDescriptor } from '../../socket/descriptor.ts';
import { randomId } from '../transport/random-ids.ts';
import { MAX_SOCKETS } from './shared-words.ts';

const POOL = 16;
const QUERIES_PER_SOCKET = 1024;
const MILLISECONDS_PER_SOCKET = 20_000;
/** Queries that leave by the socket of one draw. */
const QUERIES_IN_A_ROW = 32;
/** Queries a second up to which each has a socket of its own. */
const SINGLE_PER_SECOND = 200;
const NONE = -1;

/** What watches sockets and remembers them. */
export interface SocketKeeper {
  /** @returns whether the socket is watched for packets from now on */
  opened(socket: number, fd: number): boolean;
  closed(socket: number): void;
}

export class UpstreamSockets {
  /** Descriptors by the number of the socket; -1: there is none. */
  readonly fds = new Int32Array(MAX_SOCKETS).fill(NONE);
  /** The main thread's number of the server that each asks. */
  readonly servers = new Uint32Array(MAX_SOCKETS);
  readonly suspicious = new Uint8Array(MAX_SOCKETS);
  readonly #keeper: SocketKeeper;
  readonly #max: number;
  readonly #pending = new Uint16Array(MAX_SOCKETS);
  readonly #uses = new Uint16Array(MAX_SOCKETS);
  readonly #retireAt = new Float64Array(MAX_SOCKETS);
  /** Closed when no query of theirs is under way any more. */
  readonly #isLeaving = new Uint8Array(MAX_SOCKETS);
  readonly #pool = new Int8Array(POOL).fill(NONE);
  #peer: SocketAddress | undefined;
  #server = 0;
  #open = 0;
  #current = NONE;
  #inRow = 0;
  #rowAt = 0;
  #secondAt = 0;
  #inSecond = 0;
  #inSecondBefore = 0;
  #sweepAt = 0;

  /** @param max sockets that may be open at once, 1 to `MAX_SOCKETS` */
  constructor(keeper: SocketKeeper, max: number) {
    this.#keeper = keeper;
    this.#max = max;
  }

  /** Sockets that are open. */
  get open(): number {
    return this.#open;
  }

  /** Asks another server from now on, or none. */
  changePeer(peer: SocketAddress | undefined, server: number): void {
    for (const [place, socket] of this.#pool.entries()) if (socket >= 0) this.#leave(place);
    this.#peer = peer;
    this.#server = server;
  }

  /** The socket for the next query, which then has one more under way; -1 if none can be opened. */
  pick(now: number): number {
    const socket = this.#isQuiet(now) ? this.#openSocket(now) : this.#pickFromPool(now);
    if (socket < 0) return NONE;
    this.#pending[socket] = (this.#pending[socket] ?? 0) + 1;
    this.#uses[socket] = (this.#uses[socket] ?? 0) + 1;
    return socket;
  }

  /** A query of a socket is done with. */
  release(socket: number): void {
    const left = Math.max(0, (this.#pending[socket] ?? 0) - 1);
    this.#pending[socket] = left;
    if (left === 0 && this.#isLeaving[socket] === 1) this.#close(socket);
  }

  /** Uses a socket no more, as a forger has found it. */
  abandon(socket: number): void {
    const place = this.#pool.indexOf(socket);
    if (place >= 0) this.#leave(place);
    else this.#isLeaving[socket] = 1;
    if (this.fds[socket] !== NONE && this.#pending[socket] === 0) this.#close(socket);
  }

  /** Closes sockets whose time is over, so that a quiet server holds none. */
  sweep(now: number): void {
    if (this.#open === 0 || now < this.#sweepAt) return;
    this.#sweepAt = now + 1000;
    for (const [place, socket] of this.#pool.entries())
      if (socket >= 0 && now >= (this.#retireAt[socket] ?? 0)) this.#leave(place);
  }

  /** Whether so few queries leave that each may have a socket of its own. Counts this one. */
  #isQuiet(now: number): boolean {
    if (now - this.#secondAt >= 1000) {
      this.#inSecondBefore = now - this.#secondAt < 2000 ? this.#inSecond : 0;
      this.#inSecond = 0;
      this.#secondAt = now;
    }
    this.#inSecond += 1;
    const isFew = Math.max(this.#inSecond, this.#inSecondBefore) <= SINGLE_PER_SECOND;
    return isFew && this.#open < this.#max - POOL;
  }

  #pickFromPool(now: number): number {
    const isFull = this.#inRow >= QUERIES_IN_A_ROW || now !== this.#rowAt;
    if (this.#current !== NONE && !isFull) {
      this.#inRow += 1;
      return this.#current;
    }
    this.#current = this.#freshSocket(randomId() % POOL, now);
    this.#inRow = 1;
    this.#rowAt = now;
    return this.#current;
  }

  #freshSocket(place: number, now: number): number {
    const old = this.#pool[place] ?? NONE;
    const isFresh =
      old >= 0 && (this.#uses[old] ?? 0) < QUERIES_PER_SOCKET && now < (this.#retireAt[old] ?? 0);
    if (isFresh) return old;
    const socket = this.#openSocket(now);
    // Rather an old one than none.
    if (socket < 0) return old;
    this.#isLeaving[socket] = 0;
    if (old >= 0) this.#leave(place);
    this.#pool[place] = socket;
    return socket;
  }

  /** Opens a socket that leaves with its only query, unless it joins the pool. */
  #openSocket(now: number): number {
    const socket = this.#open < this.#max ? this.fds.indexOf(NONE) : NONE;
    if (socket < 0 || this.#peer === undefined) return NONE;
    let fd: number;
    try {
      fd = connectUdp({ peer: this.#peer, source: undefined, shared: false });
    } catch {
      // The main thread tries, and says what is wrong.
      return NONE;
    }
    if (!this.#keeper.opened(socket, fd)) {
      closeDescriptor(fd);
      return NONE;
    }
    this.fds[socket] = fd;
    this.servers[socket] = this.#server;
    this.suspicious[socket] = 0;
    this.#pending[socket] = 0;
    this.#uses[socket] = 0;
    this.#retireAt[socket] = now + MILLISECONDS_PER_SOCKET;
    this.#isLeaving[socket] = 1;
    this.#open += 1;
    return socket;
  }

  /** Takes a socket out of the pool. */
  #leave(place: number): void {
    const socket = this.#pool[place] ?? NONE;
    this.#pool[place] = NONE;
    if (this.#current === socket) this.#current = NONE;
    this.#isLeaving[socket] = 1;
    if (this.#pending[socket] === 0) this.#close(socket);
  }

  #close(socket: number): void {
    const fd = this.fds[socket] ?? NONE;
    if (fd === NONE) return;
    this.fds[socket] = NONE;
    this.#open -= 1;
    this.#keeper.closed(socket);
    closeDescriptor(fd);
  }
}
