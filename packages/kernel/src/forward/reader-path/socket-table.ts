/**
 * The upstream sockets of a reader by number: UDP sockets and connections share the numbers, which slots and events use.
 */
import { closeDescriptor } from '../../socket/descriptor.ts';
import { MAX_SOCKETS } from './shared-words.ts';

const NONE = -1;

/** Watches sockets and records their descriptors. */
export interface SocketKeeper {
  /** @returns whether the socket is now watched for packets */
  opened(socket: number, fd: number): boolean;
  closed(socket: number): void;
}

export class SocketTable {
  /** Descriptors by socket number; -1: closed. */
  readonly fds = new Int32Array(MAX_SOCKETS).fill(NONE);
  /** The main thread's number of the server for each socket. */
  readonly servers = new Uint32Array(MAX_SOCKETS);
  /** Maximum of open sockets, 1 to `MAX_SOCKETS`. */
  readonly max: number;
  readonly #keeper: SocketKeeper;
  #open = 0;

  constructor(keeper: SocketKeeper, max: number) {
    this.#keeper = keeper;
    this.max = max;
  }

  /** The number of open sockets. */
  get open(): number {
    return this.#open;
  }

  /** Adds the socket that `connect` opens, if there is room. @returns its number; -1 if it was not opened */
  add(server: number, connect: () => number): number {
    const socket = this.#open < this.max ? this.fds.indexOf(NONE) : NONE;
    if (socket < 0) return NONE;
    let fd: number;
    try {
      fd = connect();
    } catch {
      // The main thread will try too, and report the error.
      return NONE;
    }
    if (!this.#keeper.opened(socket, fd)) {
      closeDescriptor(fd);
      return NONE;
    }
    this.fds[socket] = fd;
    this.servers[socket] = server;
    this.#open += 1;
    return socket;
  }

  /** Closes a socket, if it is open. */
  close(socket: number): void {
    const fd = this.fds[socket] ?? NONE;
    if (fd === NONE) return;
    this.fds[socket] = NONE;
    this.#open -= 1;
    this.#keeper.closed(socket);
    closeDescriptor(fd);
  }

  closeAll(): void {
    for (let socket = 0; socket < MAX_SOCKETS; socket += 1) this.close(socket);
  }
}
