/**
 * Memory to send several queries over one connected socket with one `sendmmsg`. All sockets of a thread share it:
 * simultaneous queries nearly always use the same socket.
 */
import { MessageRow, type RefusedMessages } from './message-row.ts';

const PACKETS = 64;
/** A header, a name of 255 octets and an OPT record with some options. */
const PACKET_OCTETS = 512;
/** A connected socket reports an ICMP error once, at the next call; the packet itself can then still be sent. */
const TRIES = 2;

/** A socket that sends by batches. */
export interface BatchSender {
  readonly fd: number;
  /**
   * The kernel refused a packet, or reports an error of an earlier one. Called in a separate turn of the event loop.
   *
   * @param id the first two octets of the refused packet; undefined: the packet was sent
   */
  sendFailed(errno: number, id: number | undefined): void;
}

export class QueryBatch implements RefusedMessages {
  readonly #row = new MessageRow(PACKETS, PACKET_OCTETS, 'connected');
  #sender: BatchSender | undefined;
  #count = 0;
  /** The packet that was refused last, and how often. */
  #refused = -1;
  #tries = 0;

  /**
   * Copies a packet, to send it at the end of this turn of the event loop. First sends pending packets of another socket.
   *
   * @param packet of at most 512 octets
   * @param id written over its first two octets
   */
  add(sender: BatchSender, packet: Uint8Array, id: number): void {
    if (packet.length > PACKET_OCTETS)
      throw new RangeError(`query longer than a packet of the batch: ${packet.length} octets`);
    if (this.#sender !== sender || this.#count === PACKETS) this.flush();
    if (this.#count === 0) process.nextTick(flushBatch, this);
    this.#sender = sender;
    const index = this.#count++;
    const { octets } = this.#row;
    const at = this.#row.packetAt(index);
    for (let octet = 2; octet < packet.length; octet++) octets[at + octet] = packet[octet] ?? 0;
    octets[at] = id >> 8;
    octets[at + 1] = id;
    this.#row.setLength(index, packet.length);
  }

  /** Drops the unsent packets of a socket. */
  forget(sender: BatchSender): void {
    if (this.#sender === sender) this.#count = 0;
  }

  /** Sends without waiting. Drops packets when the send buffer is full, as UDP permits. */
  flush(): void {
    const count = this.#count;
    this.#count = 0;
    this.#refused = -1;
    if (this.#sender !== undefined) this.#row.send(this.#sender.fd, count, this);
  }

  skips(index: number, errno: number): boolean {
    this.#tries = index === this.#refused ? this.#tries + 1 : 1;
    this.#refused = index;
    const isRefused = this.#tries === TRIES;
    const at = this.#row.packetAt(index);
    const { octets } = this.#row;
    const id = isRefused ? ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0) : undefined;
    const sender = this.#sender;
    // The sender may send again at once.
    setImmediate(() => sender?.sendFailed(errno, id));
    return isRefused;
  }
}

function flushBatch(batch: QueryBatch): void {
  batch.flush();
}
