/**
 * Sends single answers on a reader's own socket, from the address that the query was sent to: for the main thread, which
 * answers later what a reader could not.
 *
 *     0    struct msghdr: address pointer, its length at 8, iovec pointer at 16, iovec count at 24, control pointer at 32,
 *          control length at 40
 *     56   struct iovec: pointer, length at 64
 *     72   the envelope, 72 octets: where the two other pointers lead
 *     144  the response
 */
import { ENVELOPE, readdressControl } from './envelope.ts';
import { type Libc, libc, type Pointer } from './libc.ts';
import { EAGAIN, EINTR, ENOBUFS, MSG_DONTWAIT } from './linux.ts';

export type Sent = 'sent' | 'refused' | 'blocked';

const NAME_LENGTH = 8;
const CONTROL_LENGTH = 40;
const IOVEC = 56;
const IOVEC_LENGTH = 64;
const ENVELOPE_AT = 72;
const RESPONSE = ENVELOPE_AT + ENVELOPE.OCTETS;
const LARGEST_UDP_PAYLOAD = 65_507;

export class ReplySender {
  readonly #libc: Libc = libc();
  readonly #octets: Uint8Array;
  readonly #words: Uint32Array;
  readonly #view: DataView;
  readonly #header: Pointer;

  constructor() {
    const memory = new ArrayBuffer(RESPONSE + LARGEST_UDP_PAYLOAD + 1);
    const header = this.#libc.addressOf(memory);
    this.#header = header;
    this.#octets = new Uint8Array(memory);
    this.#words = new Uint32Array(memory);
    this.#view = new DataView(memory);
    this.#view.setBigUint64(0, header + BigInt(ENVELOPE_AT + ENVELOPE.NAME), true);
    this.#view.setBigUint64(16, header + BigInt(IOVEC), true);
    this.#view.setBigUint64(24, 1n, true);
    this.#view.setBigUint64(32, header + BigInt(ENVELOPE_AT + ENVELOPE.CONTROL), true);
    this.#view.setBigUint64(IOVEC, header + BigInt(RESPONSE), true);
  }

  /**
   * Sends without waiting.
   *
   * @param envelope as a batch wrote it
   * @returns `refused` if the kernel will never send it, `blocked` if it has no room now
   */
  send(fd: number, envelope: Uint8Array, response: Uint8Array): Sent {
    if (response.length > LARGEST_UDP_PAYLOAD) return 'refused';
    this.#octets.set(envelope, ENVELOPE_AT);
    this.#octets.set(response, RESPONSE);
    const controlLength = envelope[ENVELOPE.CONTROL_LENGTH] ?? 0;
    if (controlLength > 0) readdressControl(this.#words, (ENVELOPE_AT + ENVELOPE.CONTROL) >> 2);
    this.#view.setUint32(NAME_LENGTH, envelope[ENVELOPE.NAME_LENGTH] ?? 0, true);
    this.#view.setUint32(CONTROL_LENGTH, controlLength, true);
    this.#view.setUint32(IOVEC_LENGTH, response.length, true);
    for (;;) {
      if (this.#libc.sendmsg(fd, this.#header, MSG_DONTWAIT) >= 0) return 'sent';
      const errno = this.#libc.errno();
      if (errno === EAGAIN || errno === ENOBUFS) return 'blocked';
      if (errno !== EINTR) return 'refused';
    }
  }
}
