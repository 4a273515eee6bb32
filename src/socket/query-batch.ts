/**
 * Memory to send several queries over one connected socket with one `sendmmsg`.
 *
 * One block: 64 headers of `struct mmsghdr` (64 octets each), their `struct iovec`s (16), then the packets. Headers carry no
 * address, as the socket is connected. Nothing is allocated after the constructor.
 */
import { type Libc, libc, type Pointer } from './libc.ts';
import { EAGAIN, EINTR, ENOBUFS, MSG_DONTWAIT } from './linux.ts';

const PACKETS = 64;
const HEADER_OCTETS = 64;
const IOVEC_OCTETS = 16;
const IOVECS = PACKETS * HEADER_OCTETS;
const ROOM = IOVECS + PACKETS * IOVEC_OCTETS;
/** A header, a name of 255 octets and an OPT record with some options. */
const PACKET_OCTETS = 512;
/** A connected socket tells of an ICMP error once, at the next call; the packet itself can then still be sent. */
const TRIES = 2;

export class QueryBatch {
  readonly #libc: Libc = libc();
  readonly #octets: Uint8Array;
  readonly #words: Uint32Array;
  readonly #headers: readonly Pointer[];

  constructor() {
    const memory = new ArrayBuffer(ROOM + PACKETS * PACKET_OCTETS);
    const start = this.#libc.addressOf(memory);
    const view = new DataView(memory);
    this.#octets = new Uint8Array(memory);
    this.#words = new Uint32Array(memory);
    this.#headers = Array.from({ length: PACKETS }, (_, index) => start + BigInt(index * HEADER_OCTETS));
    for (let index = 0; index < PACKETS; index++) {
      const iovec = IOVECS + index * IOVEC_OCTETS;
      view.setBigUint64(index * HEADER_OCTETS + 16, start + BigInt(iovec), true);
      view.setBigUint64(index * HEADER_OCTETS + 24, 1n, true);
      view.setBigUint64(iovec, start + BigInt(ROOM + index * PACKET_OCTETS), true);
    }
  }

  /**
   * Sends without waiting. What finds the send buffer full is dropped, as UDP may drop anything.
   *
   * @param packets of at most 512 octets each
   * @param onError called with the error number of each message that the kernel refused, and of errors it had to tell
   */
  send(fd: number, packets: readonly Uint8Array[], onError: (errno: number) => void): void {
    for (let from = 0; from < packets.length; from += PACKETS) {
      const count = Math.min(PACKETS, packets.length - from);
      for (let index = 0; index < count; index++) this.#place(index, packets[from + index]);
      this.#sendPlaced(fd, count, onError);
    }
  }

  #place(index: number, packet: Uint8Array | undefined): void {
    if (packet === undefined || packet.length > PACKET_OCTETS)
      throw new RangeError(`query longer than its room: ${packet?.length} octets`);
    this.#octets.set(packet, ROOM + index * PACKET_OCTETS);
    this.#words[(IOVECS + index * IOVEC_OCTETS + 8) >> 2] = packet.length;
  }

  #sendPlaced(fd: number, count: number, onError: (errno: number) => void): void {
    let tries = 0;
    for (let sent = 0; sent < count; ) {
      const done = this.#libc.sendmmsg(fd, this.#headers[sent] ?? 0n, count - sent, MSG_DONTWAIT);
      if (done > 0) {
        sent += done;
        tries = 0;
        continue;
      }
      const errno = this.#libc.errno();
      if (errno === EINTR) continue;
      if (errno === EAGAIN || errno === ENOBUFS) return;
      onError(errno);
      tries++;
      if (tries < TRIES) continue;
      sent++;
      tries = 0;
    }
  }
}
