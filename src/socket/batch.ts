/**
 * One reader's packet memory: up to 64 packets received with one `recvmmsg`, answered where they lie, and the answers sent
 * with one `sendmmsg`.
 *
 * The memory is one block: `struct mmsghdr` of each packet, then the `struct iovec`s, addresses, control messages and
 * packets that they point to. A header, in 32-bit words:
 *
 *     0   address pointer    2   address length    4   iovec pointer    6   iovec count
 *     8   control pointer    10  control length    12  flags            14  received octets
 *
 * Each header points to a *seat* of the same number at first. A packet without an answer must not be sent, so its header
 * changes places with that of the next packet to answer; headers stay that way, since every seat is as good as another.
 * Nothing is allocated after the constructor.
 */
import { CONTROL_OCTETS, ENVELOPE, MOST_NAME_OCTETS, NAME_OCTETS, readdressControl } from './envelope.ts';
import { type Libc, libc, type Pointer } from './libc.ts';
import { EAGAIN, EINTR, ENOBUFS, MSG_DONTWAIT, MSG_TRUNC } from './linux.ts';

export const BATCH_PACKETS = 64;

const HEADER_OCTETS = 64;
const HEADER_WORDS = HEADER_OCTETS / 4;
const IOVEC_OCTETS = 16;
const NAME_LENGTH = 2;
const CONTROL_LENGTH = 10;
const FLAGS = 12;
const RECEIVED = 14;
const IOVEC_LENGTH = 2;

const IOVECS = BATCH_PACKETS * HEADER_OCTETS;
const NAMES = IOVECS + BATCH_PACKETS * IOVEC_OCTETS;
const CONTROLS = NAMES + BATCH_PACKETS * NAME_OCTETS;
const PACKETS = CONTROLS + BATCH_PACKETS * CONTROL_OCTETS;

export class PacketBatch {
  /** The memory that all packets lie in, from `startOf` on. */
  readonly octets: Uint8Array;
  /** Octets from one packet's start that may be written. */
  readonly packetSize: number;
  /** Answers of the last batch that the kernel refused to send: an impossible address, a firewall. */
  refused = 0;
  /** Answers of the last batch dropped because the send buffer was full. */
  blocked = 0;

  readonly #libc: Libc = libc();
  readonly #words: Uint32Array;
  /** The pointer to each header, made once: a bigint is an allocation. */
  readonly #headers: readonly Pointer[];
  readonly #firstHeader: Pointer;
  /** The seat that each header points to. */
  readonly #seats = new Uint8Array(BATCH_PACKETS);
  /** Headers that the last receive call wrote to. */
  #received = 0;
  /** Headers at the front that carry answers. */
  #answers = 0;

  /** @param packetSize octets of the largest query to take and of the largest answer to give */
  constructor(packetSize: number) {
    this.packetSize = (packetSize + 63) & ~63;
    const memory = new ArrayBuffer(PACKETS + BATCH_PACKETS * this.packetSize);
    this.octets = new Uint8Array(memory);
    this.#words = new Uint32Array(memory);
    this.#firstHeader = this.#libc.addressOf(memory);
    this.#headers = Array.from(
      { length: BATCH_PACKETS },
      (_, header) => this.#firstHeader + BigInt(header * HEADER_OCTETS),
    );
    this.#layOut(new DataView(memory));
  }

  #layOut(view: DataView): void {
    const start = this.#firstHeader;
    for (let seat = 0; seat < BATCH_PACKETS; seat++) {
      const header = seat * HEADER_OCTETS;
      const iovec = IOVECS + seat * IOVEC_OCTETS;
      this.#seats[seat] = seat;
      view.setBigUint64(header, start + BigInt(NAMES + seat * NAME_OCTETS), true);
      view.setBigUint64(header + 16, start + BigInt(iovec), true);
      view.setBigUint64(header + 24, 1n, true);
      view.setBigUint64(header + 32, start + BigInt(CONTROLS + seat * CONTROL_OCTETS), true);
      view.setBigUint64(iovec, start + BigInt(PACKETS + seat * this.packetSize), true);
    }
    this.#received = BATCH_PACKETS;
  }

  /**
   * Receives up to 64 packets. What was received before is forgotten.
   *
   * @param flags `MSG_DONTWAIT`, or `MSG_WAITFORONE` to wait for the first packet as long as the socket's timeout says
   * @returns the number of packets; 0 if none came in time; else the error number, negative (`-EINTR` is no failure)
   */
  receive(fd: number, flags: number): number {
    this.#makeReady();
    const count = this.#libc.recvmmsg(fd, this.#firstHeader, BATCH_PACKETS, flags, null);
    if (count >= 0) {
      this.#received = count;
      return count;
    }
    const errno = this.#libc.errno();
    return errno === EAGAIN ? 0 : -errno;
  }

  /** The kernel wrote lengths where it had read the room. */
  #makeReady(): void {
    const words = this.#words;
    for (let index = 0; index < this.#received; index++) {
      const header = index * HEADER_WORDS;
      words[header + NAME_LENGTH] = MOST_NAME_OCTETS;
      words[header + CONTROL_LENGTH] = CONTROL_OCTETS;
      words[this.#iovecOf(index) + IOVEC_LENGTH] = this.packetSize;
    }
    this.#received = 0;
    this.#answers = 0;
  }

  #iovecOf(index: number): number {
    return (IOVECS + (this.#seats[index] ?? 0) * IOVEC_OCTETS) >> 2;
  }

  /** Where packet `index` (below what `receive` returned) begins in `octets`. */
  startOf(index: number): number {
    return PACKETS + (this.#seats[index] ?? 0) * this.packetSize;
  }

  /** The octets of packet `index` that were received. */
  lengthOf(index: number): number {
    return this.#words[index * HEADER_WORDS + RECEIVED] ?? 0;
  }

  /** Whether packet `index` was longer than what is here of it. */
  isCut(index: number): boolean {
    return ((this.#words[index * HEADER_WORDS + FLAGS] ?? 0) & MSG_TRUNC) !== 0;
  }

  /**
   * Marks packet `index` as answered: the response lies where it lay. To be called in the order of the packets, and not
   * before the unanswered ones ahead of it are done with.
   */
  answer(index: number, length: number): void {
    const place = this.#answers++;
    if (place !== index) this.#swap(place, index);
    const header = place * HEADER_WORDS;
    this.#words[this.#iovecOf(place) + IOVEC_LENGTH] = length;
    if (this.#words[header + CONTROL_LENGTH] !== 0) readdressControl(this.#words, this.#controlOf(place));
  }

  #controlOf(index: number): number {
    return (CONTROLS + (this.#seats[index] ?? 0) * CONTROL_OCTETS) >> 2;
  }

  #swap(one: number, other: number): void {
    const words = this.#words;
    const seat = this.#seats[one] ?? 0;
    this.#seats[one] = this.#seats[other] ?? 0;
    this.#seats[other] = seat;
    for (let word = 0; word < HEADER_WORDS; word++) {
      const here = one * HEADER_WORDS + word;
      const there = other * HEADER_WORDS + word;
      const value = words[here] ?? 0;
      words[here] = words[there] ?? 0;
      words[there] = value;
    }
  }

  /** Writes the envelope of packet `index`, `ENVELOPE.OCTETS` long, to answer it later. */
  writeEnvelope(index: number, target: Uint8Array, at: number): void {
    const header = index * HEADER_WORDS;
    const name = NAMES + (this.#seats[index] ?? 0) * NAME_OCTETS;
    const control = this.#controlOf(index) << 2;
    for (let octet = 0; octet < MOST_NAME_OCTETS; octet++)
      target[at + octet] = this.octets[name + octet] ?? 0;
    target[at + ENVELOPE.NAME_LENGTH] = this.#words[header + NAME_LENGTH] ?? 0;
    target[at + ENVELOPE.CONTROL_LENGTH] = this.#words[header + CONTROL_LENGTH] ?? 0;
    for (let octet = 0; octet < CONTROL_OCTETS; octet++) {
      target[at + ENVELOPE.CONTROL + octet] = this.octets[control + octet] ?? 0;
    }
  }

  /**
   * Sends the answers, without waiting. A message that the kernel refuses (a query from port 0 cannot be answered) is
   * left out; when the send buffer is full the rest is dropped, as clients ask again.
   */
  send(fd: number): void {
    const count = this.#answers;
    let sent = 0;
    this.refused = 0;
    this.blocked = 0;
    while (sent < count) {
      const done = this.#libc.sendmmsg(fd, this.#headers[sent] ?? 0n, count - sent, MSG_DONTWAIT);
      if (done > 0) sent += done;
      else {
        const errno = this.#libc.errno();
        if (errno === EINTR) continue;
        if (errno === EAGAIN || errno === ENOBUFS) {
          this.blocked = count - sent;
          break;
        }
        this.refused++;
        sent++;
      }
    }
    this.#answers = 0;
  }
}
