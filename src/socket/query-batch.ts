/**
 * Memory to send several queries over one connected socket with one `sendmmsg`. All sockets of a thread share it: queries of one
 * moment nearly always leave by the same.
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

/** A socket that sends by the batch. */
export interface BatchSender {
  readonly fd: number;
  /** The kernel has refused a packet, or had an error to tell. Called in a turn of its own. */
  sendFailed(errno: number): void;
}

export class QueryBatch {
  readonly #libc: Libc = libc();
  readonly #octets: Uint8Array;
  readonly #words: Uint32Array;
  readonly #headers: readonly Pointer[];
  #sender: BatchSender | undefined;
  #count = 0;

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
   * Copies a packet, to be sent at the end of this turn of the event loop; sends those before it if they are another socket's.
   *
   * @param packet of at most 512 octets
   * @param id written over its first two octets
   */
  add(sender: BatchSender, packet: Uint8Array, id: number): void {
    if (packet.length > PACKET_OCTETS)
      throw new RangeError(`query longer than its room: ${packet.length} octets`);
    if (this.#sender !== sender || this.#count === PACKETS) this.flush();
    if (this.#count === 0) process.nextTick(flushBatch, this);
    this.#sender = sender;
    const index = this.#count++;
    const octets = this.#octets;
    const room = ROOM + index * PACKET_OCTETS;
    for (let octet = 2; octet < packet.length; octet++) octets[room + octet] = packet[octet] ?? 0;
    octets[room] = id >> 8;
    octets[room + 1] = id;
    this.#words[(IOVECS + index * IOVEC_OCTETS + 8) >> 2] = packet.length;
  }

  /** Drops what a socket has not sent. */
  forget(sender: BatchSender): void {
    if (this.#sender === sender) this.#count = 0;
  }

  /** Sends without waiting. What finds the send buffer full is dropped, as UDP may drop anything. */
  flush(): void {
    const [sender, count] = [this.#sender, this.#count];
    this.#count = 0;
    if (sender === undefined) return;
    let tries = 0;
    for (let sent = 0; sent < count; ) {
      const done = this.#libc.sendmmsg(sender.fd, this.#headers[sent] ?? 0n, count - sent, MSG_DONTWAIT);
      if (done > 0) {
        sent += done;
        tries = 0;
        continue;
      }
      const errno = this.#libc.errno();
      if (errno === EINTR) continue;
      if (errno === EAGAIN || errno === ENOBUFS) return;
      // Whoever hears of it may ask again at once.
      setImmediate(() => sender.sendFailed(errno));
      tries++;
      if (tries < TRIES) continue;
      sent++;
      tries = 0;
    }
  }
}

function flushBatch(batch: QueryBatch): void {
  batch.flush();
}
