/**
 * Sends answers on readers' own sockets, each from the address that its query was sent to, many with one `sendmmsg`.
 * The main thread uses it for answers that readers could not give. All answers of a batch use one socket.
 */
import { MessageRow, type RefusedMessages } from './message-row.ts';

const ANSWERS = 64;
/** Octets of the longest answer in a batch. */
const MAX_OCTETS = 1280;

export class ReplyBatch implements RefusedMessages {
  /** Answers that the kernel has refused so far. */
  unsent = 0;
  readonly #row = new MessageRow(ANSWERS, MAX_OCTETS, 'any');
  readonly #onUnsent: (fd: number, answers: number) => void;
  #fd = -1;
  #count = 0;

  /** @param onUnsent called when answers on a socket were refused or dropped */
  constructor(onUnsent: (fd: number, answers: number) => void = () => {}) {
    this.#onUnsent = onUnsent;
  }

  /** Whether a batch can send an answer of this many octets. */
  fits(length: number): boolean {
    return length <= MAX_OCTETS;
  }

  /**
   * Takes an answer. First sends pending ones if they use another socket, or fill a batch.
   *
   * @param envelope memory with the envelope from a batch
   * @param response memory that begins with the answer
   * @param at where the envelope begins
   */
  add(fd: number, envelope: Uint8Array, response: Uint8Array, length: number, at = 0): void {
    if (this.#fd !== fd || this.#count === ANSWERS) this.flush();
    this.#fd = fd;
    const index = this.#count++;
    const row = this.#row;
    row.address(index, envelope, at);
    const { octets } = row;
    const to = row.packetAt(index);
    for (let octet = 0; octet < length; octet++) octets[to + octet] = response[octet] ?? 0;
    row.setLength(index, length);
  }

  /** Sends without waiting. Skips answers that the kernel refuses; drops the rest when the send buffer is full. */
  flush(): void {
    const count = this.#count;
    this.#count = 0;
    const before = this.unsent;
    // `send` adds refused answers to `unsent` itself.
    const left = this.#row.send(this.#fd, count, this);
    this.unsent += left;
    if (this.unsent > before) this.#onUnsent(this.#fd, this.unsent - before);
  }

  skips(): boolean {
    this.unsent++;
    return true;
  }
}
