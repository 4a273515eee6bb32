/**
 * Sends answers on readers' own sockets, each from the address that its query was sent to, many with one `sendmmsg`: for the
 * main thread, which answers later what readers could not. All answers of a batch leave by one socket.
 */
import { MessageRow, type RefusedMessages } from './message-row.ts';

const ANSWERS = 64;
/** Octets of the longest answer that is sent in a batch. */
const MAX_OCTETS = 1280;

export class ReplyBatch implements RefusedMessages {
  /** Answers that the kernel did not take so far. */
  unsent = 0;
  readonly #row = new MessageRow(ANSWERS, MAX_OCTETS, 'any');
  #fd = -1;
  #count = 0;

  /** Whether an answer of so many octets can be sent in a batch. */
  fits(length: number): boolean {
    return length <= MAX_OCTETS;
  }

  /**
   * Takes an answer; sends those before it if they leave by another socket, or are as many as a batch holds.
   *
   * @param envelope memory with the envelope, as a batch wrote it
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

  /** Sends without waiting. What the kernel refuses is left out; when its send buffer is full the rest is dropped. */
  flush(): void {
    const count = this.#count;
    this.#count = 0;
    // What is refused meanwhile counts too.
    const left = this.#row.send(this.#fd, count, this);
    this.unsent += left;
  }

  skips(): boolean {
    this.unsent++;
    return true;
  }
}
