/**
 * A row of messages for `recvmmsg` and `sendmmsg`: the only code that knows the layout of `struct mmsghdr`, and how to send a row.
 *
 * The memory is one block: a header for each message, then the `struct iovec`s, envelopes or control messages, and
 * packets that they point to. A header, in 32-bit words:
 *
 *     0   address pointer    2   address length    4   iovec pointer    6   iovec count
 *     8   control pointer    10  control length    12  flags            14  received octets
 *
 * Each header points to the *seat* of the same number at first; only `PacketBatch` and `TrainRow` change that. It
 * allocates no memory after the constructor.
 *
 * A message of a connected row may be a *train*: several packets of equal length, except that the last may be shorter.
 * It has the iovecs of its packets, and its control message gives that length:
 *
 *     0   length (8)   8 level   12 type   16 octets of a packet (2)
 */
import { ENVELOPE, readdressControl } from './envelope.ts';
import { type Libc, libc, type Pointer } from './libc.ts';
import { EAGAIN, EINTR, ENOBUFS, IPPROTO_UDP, MSG_DONTWAIT, UDP_SEGMENT } from './linux.ts';

const HEADER_OCTETS = 64;
export const HEADER_WORDS = HEADER_OCTETS / 4;
/** Words of a header. */
export const HEADER = { NAME_LENGTH: 2, CONTROL_LENGTH: 10, FLAGS: 12, RECEIVED: 14 } as const;
const IOVEC_OCTETS = 16;
const IOVEC_WORDS = IOVEC_OCTETS / 4;
const IOVEC_LENGTH = 2;
/** More words of a header. */
const IOVECS = { POINTER: 4, COUNT: 6 } as const;
/** The control message of a train: its length without and with the final padding, and the word of the packet length. */
const SEGMENTS = { LENGTH: 18, OCTETS: 24, WORD: 4 } as const;

/** Decides on messages that the kernel refuses. */
export interface RefusedMessages {
  /** @returns whether to skip it; otherwise it is sent again */
  skips(index: number, errno: number): boolean;
}

export class MessageRow {
  /** The whole memory, as octets and as words. */
  readonly octets: Uint8Array;
  readonly words: Uint32Array;
  /** Messages that the row holds. */
  readonly size: number;
  /** Octets for each packet. */
  readonly packetSize: number;
  /** Where the first packet and the first envelope begin. */
  readonly packets: number;
  readonly envelopes: number;
  readonly #iovecs: number;
  readonly #controls: number;
  /** The address of the memory, in two halves. */
  readonly #addressLow: number;
  readonly #addressHigh: number;
  readonly #libc: Libc = libc();
  /** The pointer to each header, made once: every bigint is an allocation. */
  readonly #headers: readonly Pointer[];

  /**
   * @param size messages
   * @param packetSize octets of each packet, rounded up to a multiple of 64
   * @param peers `any`: each message has an address and a control message; `connected`: the socket has the address, and
   *   a message may be a train
   */
  constructor(size: number, packetSize: number, peers: 'any' | 'connected') {
    this.size = size;
    this.packetSize = (packetSize + 63) & ~63;
    this.#iovecs = size * HEADER_OCTETS;
    this.envelopes = this.#iovecs + size * IOVEC_OCTETS;
    this.#controls = this.envelopes;
    this.packets = this.envelopes + size * (peers === 'any' ? ENVELOPE.OCTETS : SEGMENTS.OCTETS);
    const memory = new ArrayBuffer(this.packets + size * this.packetSize);
    this.octets = new Uint8Array(memory);
    this.words = new Uint32Array(memory);
    const start = this.#libc.toPointer(memory);
    this.#addressLow = Number(start & 0xffff_ffffn);
    this.#addressHigh = Number(start >> 32n);
    this.#headers = Array.from({ length: size }, (_, header) => start + BigInt(header * HEADER_OCTETS));
    const view = new DataView(memory);
    for (let seat = 0; seat < size; seat++) {
      const header = seat * HEADER_OCTETS;
      const iovec = this.#iovecs + seat * IOVEC_OCTETS;
      view.setBigUint64(header + 16, start + BigInt(iovec), true);
      view.setBigUint64(header + 24, 1n, true);
      view.setBigUint64(iovec, start + BigInt(this.packetAt(seat)), true);
      if (peers === 'connected') {
        const control = this.#controls + seat * SEGMENTS.OCTETS;
        view.setBigUint64(header + 32, start + BigInt(control), true);
        view.setBigUint64(control, BigInt(SEGMENTS.LENGTH), true);
        view.setUint32(control + 8, IPPROTO_UDP, true);
        view.setUint32(control + 12, UDP_SEGMENT, true);
        continue;
      }
      view.setBigUint64(header, start + BigInt(this.envelopeAt(seat) + ENVELOPE.NAME), true);
      view.setBigUint64(header + 32, start + BigInt(this.envelopeAt(seat) + ENVELOPE.CONTROL), true);
    }
  }

  /** Where the packet of a seat begins in `octets`. */
  packetAt(seat: number): number {
    return this.packets + seat * this.packetSize;
  }

  /** Where the envelope of a seat begins in `octets`. */
  envelopeAt(seat: number): number {
    return this.envelopes + seat * ENVELOPE.OCTETS;
  }

  /** Sets the octets of a seat's packet: its capacity, or the octets to send. */
  setLength(seat: number, length: number): void {
    this.words[((this.#iovecs + seat * IOVEC_OCTETS) >> 2) + IOVEC_LENGTH] = length;
  }

  /**
   * Assigns a seat's packet to a place in the order of sending. Do so for all places of a message before `couple`.
   *
   * @param length octets of it to send
   */
  place(place: number, seat: number, length: number): void {
    const word = (this.#iovecs >> 2) + place * IOVEC_WORDS;
    this.#setPointer(word, this.packetAt(seat));
    this.words[word + IOVEC_LENGTH] = length;
  }

  /**
   * Makes message `index` a train of several packets of one length, or a single packet.
   *
   * @param place of the first packet
   * @param length octets of each packet; the last may have fewer
   */
  couple(index: number, place: number, packets: number, length: number): void {
    const { words } = this;
    const header = index * HEADER_WORDS;
    this.#setPointer(header + IOVECS.POINTER, this.#iovecs + place * IOVEC_OCTETS);
    words[header + IOVECS.COUNT] = packets;
    words[header + HEADER.CONTROL_LENGTH] = packets > 1 ? SEGMENTS.OCTETS : 0;
    words[((this.#controls + index * SEGMENTS.OCTETS) >> 2) + SEGMENTS.WORD] = length;
  }

  #setPointer(word: number, offset: number): void {
    const low = this.#addressLow + offset;
    this.words[word] = low;
    this.words[word + 1] = low > 0xffff_ffff ? this.#addressHigh + 1 : this.#addressHigh;
  }

  /**
   * Addresses message `index` to the sender of an envelope's packet, from the address that it queried.
   *
   * @param from where the envelope begins
   */
  address(index: number, envelope: Uint8Array, from = 0): void {
    const { octets, words } = this;
    const at = this.envelopeAt(index);
    const senderLength = envelope[from + ENVELOPE.SENDER_LENGTH] ?? 0;
    const name = from + (senderLength > 0 ? ENVELOPE.SENDER : ENVELOPE.NAME);
    const nameLength = senderLength > 0 ? senderLength : (envelope[from + ENVELOPE.NAME_LENGTH] ?? 0);
    const controlLength = envelope[from + ENVELOPE.CONTROL_LENGTH] ?? 0;
    for (let octet = 0; octet < nameLength; octet++) octets[at + octet] = envelope[name + octet] ?? 0;
    const control = ENVELOPE.CONTROL;
    for (let octet = control; octet < control + controlLength; octet++)
      octets[at + octet] = envelope[from + octet] ?? 0;
    if (controlLength > 0) readdressControl(words, (at + control) >> 2);
    words[index * HEADER_WORDS + HEADER.NAME_LENGTH] = nameLength;
    words[index * HEADER_WORDS + HEADER.CONTROL_LENGTH] = controlLength;
  }

  /** @returns the number of messages received; else the error number, negative */
  receive(fd: number, flags: number): number {
    const count = this.#libc.recvmmsg(fd, this.#headers[0] ?? 0n, this.size, flags, null);
    return count >= 0 ? count : -this.#libc.errno();
  }

  /**
   * Sends the first messages of the row, without waiting.
   *
   * @returns how many were left unsent because the send buffer was full
   */
  send(fd: number, count: number, refused: RefusedMessages): number {
    for (let sent = 0; sent < count; ) {
      const done = this.#libc.sendmmsg(fd, this.#headers[sent] ?? 0n, count - sent, MSG_DONTWAIT);
      if (done > 0) {
        sent += done;
        continue;
      }
      const errno = this.#libc.errno();
      if (errno === EINTR) continue;
      if (errno === EAGAIN || errno === ENOBUFS) return count - sent;
      if (refused.skips(sent, errno)) sent++;
    }
    return 0;
  }
}
