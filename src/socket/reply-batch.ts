/**
 * Sends answers on readers' own sockets, each from the address that its query was sent to, many with one `sendmmsg`: for the
 * main thread, which answers later what readers could not.
 *
 * One block of memory: 64 headers of `struct mmsghdr` (64 octets each), their `struct iovec`s (16), then the envelopes and the
 * answers that they point to. All answers of a batch leave by one socket. Nothing is allocated after the constructor.
 */
import { ENVELOPE, readdressControl } from './envelope.ts';
import { type Libc, libc, type Pointer } from './libc.ts';
import { EAGAIN, EINTR, ENOBUFS, MSG_DONTWAIT } from './linux.ts';

const ANSWERS = 64;
const HEADER_OCTETS = 64;
const HEADER_WORDS = HEADER_OCTETS / 4;
const IOVEC_OCTETS = 16;
const NAME_LENGTH = 2;
const CONTROL_LENGTH = 10;
const IOVEC_LENGTH = 2;

const IOVECS = ANSWERS * HEADER_OCTETS;
const ENVELOPES = IOVECS + ANSWERS * IOVEC_OCTETS;
const ROOM = ENVELOPES + ANSWERS * ENVELOPE.OCTETS;
/** Octets of the longest answer that is sent in a batch. */
const MOST_OCTETS = 1280;

export class ReplyBatch {
  /** Answers that the kernel did not take so far. */
  unsent = 0;
  readonly #libc: Libc = libc();
  readonly #octets: Uint8Array;
  readonly #words: Uint32Array;
  /** The pointer to each header, made once: a bigint is an allocation. */
  readonly #headers: readonly Pointer[];
  #fd = -1;
  #count = 0;

  constructor() {
    const memory = new ArrayBuffer(ROOM + ANSWERS * MOST_OCTETS);
    const start = this.#libc.addressOf(memory);
    const view = new DataView(memory);
    this.#octets = new Uint8Array(memory);
    this.#words = new Uint32Array(memory);
    this.#headers = Array.from({ length: ANSWERS }, (_, index) => start + BigInt(index * HEADER_OCTETS));
    for (let index = 0; index < ANSWERS; index++) {
      const header = index * HEADER_OCTETS;
      const iovec = IOVECS + index * IOVEC_OCTETS;
      const envelope = ENVELOPES + index * ENVELOPE.OCTETS;
      view.setBigUint64(header, start + BigInt(envelope + ENVELOPE.NAME), true);
      view.setBigUint64(header + 16, start + BigInt(iovec), true);
      view.setBigUint64(header + 24, 1n, true);
      view.setBigUint64(header + 32, start + BigInt(envelope + ENVELOPE.CONTROL), true);
      view.setBigUint64(iovec, start + BigInt(ROOM + index * MOST_OCTETS), true);
    }
  }

  /** Whether an answer of so many octets can be sent in a batch. */
  fits(length: number): boolean {
    return length <= MOST_OCTETS;
  }

  /**
   * Takes an answer; sends those before it if they leave by another socket, or are as many as a batch holds.
   *
   * @param envelope memory that begins with the envelope, as a batch wrote it
   * @param response memory that begins with the answer
   */
  add(fd: number, envelope: Uint8Array, response: Uint8Array, length: number): void {
    if (this.#fd !== fd || this.#count === ANSWERS) this.flush();
    this.#fd = fd;
    const index = this.#count++;
    this.#address(index, envelope);
    const octets = this.#octets;
    const room = ROOM + index * MOST_OCTETS;
    for (let octet = 0; octet < length; octet++) octets[room + octet] = response[octet] ?? 0;
    this.#words[(IOVECS >> 2) + index * (IOVEC_OCTETS / 4) + IOVEC_LENGTH] = length;
  }

  #address(index: number, envelope: Uint8Array): void {
    const octets = this.#octets;
    const at = ENVELOPES + index * ENVELOPE.OCTETS;
    const nameLength = envelope[ENVELOPE.NAME_LENGTH] ?? 0;
    const controlLength = envelope[ENVELOPE.CONTROL_LENGTH] ?? 0;
    for (let octet = 0; octet < nameLength; octet++) octets[at + octet] = envelope[octet] ?? 0;
    const control = ENVELOPE.CONTROL;
    for (let octet = control; octet < control + controlLength; octet++)
      octets[at + octet] = envelope[octet] ?? 0;
    if (controlLength > 0) readdressControl(this.#words, (at + control) >> 2);
    const header = index * HEADER_WORDS;
    this.#words[header + NAME_LENGTH] = nameLength;
    this.#words[header + CONTROL_LENGTH] = controlLength;
  }

  /** Sends without waiting. What the kernel refuses is left out; when it has no room the rest is dropped. */
  flush(): void {
    const count = this.#count;
    this.#count = 0;
    for (let sent = 0; sent < count; ) {
      const done = this.#libc.sendmmsg(this.#fd, this.#headers[sent] ?? 0n, count - sent, MSG_DONTWAIT);
      if (done > 0) {
        sent += done;
        continue;
      }
      const errno = this.#libc.errno();
      if (errno === EINTR) continue;
      if (errno === EAGAIN || errno === ENOBUFS) {
        this.unsent += count - sent;
        return;
      }
      this.unsent++;
      sent++;
    }
  }
}
