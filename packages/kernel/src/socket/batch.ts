/**
 * One reader's packet memory: receives up to 64 packets with one `recvmmsg`, answers them in place, and sends the
 * answers with one `sendmmsg`.
 *
 * At first, each header of the row points to the *seat* of the same number. A packet without an answer must not be
 * sent, so its header swaps places with that of the next packet to answer. Headers stay swapped, since all seats are
 * equal. It allocates no memory after the constructor.
 */
import { writeEndpoints } from './endpoints.ts';
import { CONTROL_OCTETS, ENVELOPE, MAX_NAME_OCTETS, readdressControl } from './envelope.ts';
import { EAGAIN, MSG_TRUNC } from './linux.ts';
import { HEADER, HEADER_WORDS, MessageRow, type RefusedMessages } from './message-row.ts';

export const BATCH_PACKETS = 64;

export class PacketBatch implements RefusedMessages {
  /** The memory of all packets; `startAt` gives their places. */
  readonly octets: Uint8Array;
  /** Octets that may be written from a packet's start. */
  readonly packetSize: number;
  /** Answers of the last batch that the kernel refused to send: an impossible address, a firewall. */
  refused = 0;
  /** Answers of the last batch dropped because the send buffer was full. */
  blocked = 0;

  readonly #row: MessageRow;
  readonly #words: Uint32Array;
  /** The seat that each header points to. */
  readonly #seats = Uint8Array.from({ length: BATCH_PACKETS }, (_, seat) => seat);
  /** Headers that the last receive call filled. */
  #received = BATCH_PACKETS;
  /** Headers at the front that hold answers. */
  #answers = 0;
  /** By seat: the octets of the sender's address where the sender is not the client; else 0. */
  readonly #senders = new Uint8Array(BATCH_PACKETS);
  #hasSenders = false;

  /** @param packetSize octets of the largest query to accept and the largest answer to send */
  constructor(packetSize: number) {
    this.#row = new MessageRow(BATCH_PACKETS, packetSize, 'any');
    this.packetSize = this.#row.packetSize;
    this.octets = this.#row.octets;
    this.#words = this.#row.words;
  }

  /**
   * Receives up to 64 packets, and forgets the previous ones.
   *
   * @param flags `MSG_DONTWAIT`, or `MSG_WAITFORONE` to wait for the first packet up to the socket's timeout
   * @returns the number of packets; 0 if none came in time; else the error number, negative (`-EINTR` is not a failure)
   */
  receive(fd: number, flags: number): number {
    this.#makeReady();
    const count = this.#row.receive(fd, flags);
    if (count > 0) this.#received = count;
    return count === -EAGAIN ? 0 : count;
  }

  /** Restores the lengths: the kernel replaced each maximum with the received length. */
  #makeReady(): void {
    const words = this.#words;
    for (let index = 0; index < this.#received; index++) {
      const header = index * HEADER_WORDS;
      words[header + HEADER.NAME_LENGTH] = MAX_NAME_OCTETS;
      words[header + HEADER.CONTROL_LENGTH] = CONTROL_OCTETS;
      this.#row.setLength(this.#seats[index] ?? 0, this.packetSize);
    }
    this.#received = 0;
    this.#answers = 0;
    if (this.#hasSenders) this.#senders.fill(0);
    this.#hasSenders = false;
  }

  /** Where packet `index` (below what `receive` returned) begins in `octets`. */
  startAt(index: number): number {
    return this.#row.packetAt(this.#seats[index] ?? 0);
  }

  /** Where the socket address of the client of packet `index` begins in `octets`. */
  locateClient(index: number): number {
    return this.#row.envelopeAt(this.#seats[index] ?? 0) + ENVELOPE.NAME;
  }

  /** The octets of packet `index` that were received. */
  lengthAt(index: number): number {
    return this.#words[index * HEADER_WORDS + HEADER.RECEIVED] ?? 0;
  }

  /** Takes the first octets of packet `index` out. */
  removeStart(index: number, octets: number): void {
    const start = this.startAt(index);
    const length = this.lengthAt(index) - octets;
    this.octets.copyWithin(start, start + octets, start + octets + length);
    this.#words[index * HEADER_WORDS + HEADER.RECEIVED] = length;
  }

  /**
   * Gives packet `index` a client that is not its sender, which still gets the answer.
   *
   * @param address memory that begins with the client's socket address, `MAX_NAME_OCTETS` long
   * @param length octets of the address
   */
  setClient(index: number, address: Uint8Array, length: number): void {
    const seat = this.#seats[index] ?? 0;
    const name = this.locateClient(index);
    const word = index * HEADER_WORDS + HEADER.NAME_LENGTH;
    this.octets.copyWithin(name + ENVELOPE.SENDER, name, name + MAX_NAME_OCTETS);
    for (let octet = 0; octet < MAX_NAME_OCTETS; octet++) this.octets[name + octet] = address[octet] ?? 0;
    this.#senders[seat] = this.#words[word] ?? 0;
    this.#words[word] = length;
    this.#hasSenders = true;
  }

  /** Whether packet `index` was longer than the stored part. */
  isCut(index: number): boolean {
    return ((this.#words[index * HEADER_WORDS + HEADER.FLAGS] ?? 0) & MSG_TRUNC) !== 0;
  }

  /**
   * Marks packet `index` as answered: the response is in the packet's place. Call it in the order of the packets, after
   * the unanswered ones before it are finished.
   */
  answer(index: number, length: number): void {
    const place = this.#answers++;
    if (place !== index) this.#swap(place, index);
    const header = place * HEADER_WORDS;
    if (this.#hasSenders) this.#returnToSender(place);
    this.#row.setLength(this.#seats[place] ?? 0, length);
    if (this.#words[header + HEADER.CONTROL_LENGTH] !== 0)
      readdressControl(this.#words, this.#locateControl(place));
  }

  #returnToSender(index: number): void {
    const length = this.#senders[this.#seats[index] ?? 0] ?? 0;
    if (length === 0) return;
    const sender = this.locateClient(index) + ENVELOPE.SENDER;
    this.octets.copyWithin(sender - ENVELOPE.SENDER, sender, sender + length);
    this.#words[index * HEADER_WORDS + HEADER.NAME_LENGTH] = length;
  }

  #locateControl(index: number): number {
    return (this.#row.envelopeAt(this.#seats[index] ?? 0) + ENVELOPE.CONTROL) >> 2;
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
    const name = this.locateClient(index);
    const control = this.#locateControl(index) << 2;
    for (let octet = 0; octet < MAX_NAME_OCTETS; octet++) target[at + octet] = this.octets[name + octet] ?? 0;
    target[at + ENVELOPE.NAME_LENGTH] = this.#words[header + HEADER.NAME_LENGTH] ?? 0;
    target[at + ENVELOPE.CONTROL_LENGTH] = this.#words[header + HEADER.CONTROL_LENGTH] ?? 0;
    const sender = this.#hasSenders ? (this.#senders[this.#seats[index] ?? 0] ?? 0) : 0;
    target[at + ENVELOPE.SENDER_LENGTH] = sender;
    for (let octet = 0; octet < sender; octet++)
      target[at + ENVELOPE.SENDER + octet] = this.octets[name + ENVELOPE.SENDER + octet] ?? 0;
    for (let octet = 0; octet < CONTROL_OCTETS; octet++) {
      target[at + ENVELOPE.CONTROL + octet] = this.octets[control + octet] ?? 0;
    }
  }

  /** Writes the two endpoints of packet `index`, see `endpoints.ts`. @returns words written */
  writeEndpoints(index: number, target: Uint32Array, at: number): number {
    const name = this.locateClient(index) >> 2;
    const hasControl = this.#words[index * HEADER_WORDS + HEADER.CONTROL_LENGTH] !== 0;
    return writeEndpoints(this.#words, name, hasControl ? this.#locateControl(index) : -1, target, at);
  }

  /**
   * Sends the answers, without waiting. It skips a message that the kernel refuses (for example, to port 0). When the
   * send buffer is full, it drops the rest, since clients retry.
   */
  send(fd: number): void {
    this.refused = 0;
    this.blocked = this.#row.send(fd, this.#answers, this);
    this.#answers = 0;
  }

  skips(): boolean {
    this.refused++;
    return true;
  }
}
