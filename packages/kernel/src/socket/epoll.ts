/**
 * Waits for packets on a changing set of sockets with epoll, for a reader that queries upstream servers and serves clients.
 *
 * The kernel forgets a socket when its descriptor is closed. An event is `struct epoll_event`: events (4), then 8
 * octets of user data, which begin with a 32-bit token. On x86-64 there is no gap between the two.
 */
import { arch } from 'node:os';
import { closeDescriptor } from './descriptor.ts';
import { type Libc, libc, type Pointer } from './libc.ts';
import { EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLLIN } from './linux.ts';

const EVENTS = 64;
const IS_PACKED = arch() === 'x64';
const EVENT_OCTETS = IS_PACKED ? 12 : 16;
const TOKEN = IS_PACKED ? 4 : 8;

export class Epoll {
  readonly fd: number;
  readonly #libc: Libc = libc();
  readonly #view: DataView;
  readonly #pointer: Pointer;
  readonly #event = new Uint8Array(EVENT_OCTETS);
  readonly #eventView = new DataView(this.#event.buffer);

  /** @throws Error if the kernel provides no descriptor */
  constructor() {
    const memory = new ArrayBuffer(EVENTS * EVENT_OCTETS);
    this.#view = new DataView(memory);
    this.#pointer = this.#libc.toPointer(memory);
    this.fd = this.#libc.epoll_create1(EPOLL_CLOEXEC);
    if (this.fd < 0) throw new Error(`epoll_create1 failed: ${this.#libc.errorName(this.#libc.errno())}`);
  }

  /**
   * Watches a socket until it is closed.
   *
   * @param token that `tokenAt` returns for it, 32 bits
   * @returns whether the kernel accepted it
   */
  add(fd: number, token: number): boolean {
    this.#eventView.setUint32(0, EPOLLIN, true);
    this.#eventView.setUint32(TOKEN, token, true);
    return this.#libc.epoll_ctl(this.fd, EPOLL_CTL_ADD, fd, this.#event) === 0;
  }

  /** Why the last socket was not accepted. */
  refusal(): Error {
    return new Error(`epoll_ctl failed: ${this.#libc.errorName(this.#libc.errno())}`);
  }

  /**
   * Waits until a socket has packets or an error.
   *
   * @returns how many events there are; 0 if none came in time; -1 if the wait was interrupted
   */
  wait(milliseconds: number): number {
    return this.#libc.epoll_wait(this.fd, this.#pointer, EVENTS, milliseconds);
  }

  /** The token of an event, whose index must be below the result of `wait`. */
  tokenAt(event: number): number {
    return this.#view.getUint32(event * EVENT_OCTETS + TOKEN, true);
  }

  close(): void {
    closeDescriptor(this.fd);
  }
}
