/**
 * The upstream sockets of a reader by number: datagrams and connections have one row of numbers, which slots and events name.
 */
import { closeDescriptor } from '../../socket/descriptor.ts';
import { MAX_SOCKETS } from './shared-words.ts';

const NONE = -1;

/** What watches sockets and remembers them. */
export interface SocketKeeper {
  /** @returns whether the socket is watched for packets from now on */
  opened(socket: number, fd: number): boolean;
  closed(socket: number): void;
}

export class SocketTable {
  /** Descriptors by the number of the socket; -1: there is none. */
  readonly fds = new Int32Array(MAX_SOCKETS).fill(NONE);
  /** The main thread's number of the server that each asks. */
  readonly servers = new Uint32Array(MAX_SOCKETS);
  /** Sockets that may be open at once, 1 to `MAX_SOCKETS`. */
  readonly max: number;
  readonly #keeper: SocketKeeper;
  #open = 0;

  constructor(keeper: SocketKeeper, max: number) {
    this.#keeper = keeper;
    this.max = max;
  }

  /** Sockets that are open. */
  get open(): number {
    return this.#open;
  }

  /** Adds what `connect` opens, if there is room. @returns its number; -1: there is no such socket */
  add(server: number, connect: () => number): number {
    const socket = this.#open < this.max ? this.fds.indexOf(NONE) : NONE;
    if (socket < 0) return NONE;
    let fd: number;
    try {
      fd = connect();
    } catch {
      // The main thread tries, and says what is wrong.
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
