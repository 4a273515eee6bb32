/**
 * Waits for packets on several sockets at once, for a reader that serves more than one address.
 *
 * The memory is one `struct pollfd` per socket: descriptor (4), requested events (2), returned events (2).
 */
import { type Libc, libc, type Pointer } from './libc.ts';
import { POLLIN } from './linux.ts';

const POLLFD_OCTETS = 8;

export class SocketReadiness {
  readonly #libc: Libc = libc();
  readonly #view: DataView;
  readonly #pointer: Pointer;
  readonly #count: number;

  constructor(descriptors: readonly number[]) {
    const memory = new ArrayBuffer(descriptors.length * POLLFD_OCTETS);
    this.#view = new DataView(memory);
    this.#pointer = this.#libc.toPointer(memory);
    this.#count = descriptors.length;
    for (const [index, fd] of descriptors.entries()) {
      this.#view.setInt32(index * POLLFD_OCTETS, fd, true);
      this.#view.setInt16(index * POLLFD_OCTETS + 4, POLLIN, true);
    }
  }

  /**
   * Waits until a socket has packets or an error.
   *
   * @returns how many do; 0 if none did in time; -1 if the wait was interrupted
   */
  wait(milliseconds: number): number {
    return this.#libc.poll(this.#pointer, this.#count, milliseconds);
  }

  /** Whether the socket had events when `wait` returned a positive number. */
  isReady(index: number): boolean {
    return this.#view.getInt16(index * POLLFD_OCTETS + 6, true) !== 0;
  }
}
