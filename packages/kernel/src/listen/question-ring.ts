/**
 * The ring of slow questions: from one reader thread to the main thread, in shared memory. It never locks or waits:
 * questions that do not fit are dropped and counted, and the client retries.
 *
 * A single client cannot fill it: the octets of each client in the ring are counted, and must not exceed the octets
 * still free. So one client gets at most half of the ring, two get two thirds, and others still find room.
 *
 * The memory is eight words, a word for each of 1,024 groups of clients, then a power of two of octets for consecutive
 * records, which never wrap around the end. Positions count octets ever written, modulo 2^32.
 *
 *     word 0   tail: up to where the reader has written    word 3   questions dropped
 *     word 1   head: up to where the main thread has read   word 4   the seed that groups are drawn by
 *     word 2   1 while the main thread sleeps
 *     word 8   by group of clients: octets in the ring
 *
 *     A record   0   its octets, or 0: the rest of the memory is unused
 *                4   socket, or what else it is | length of the query << 16
 *                8   group of its client
 *                12  the ticket of a question that the reader has forwarded and gives up; else 0
 *                16  the server that it has asked      20  milliseconds since then
 *                24  when the question came, a double: milliseconds of the monotonic clock
 *                32  envelope (104)    136  the query, padded to 8 octets
 *
 * Instead of a question, a record may hold a late reply to such a question, or a network error.
 *
 * One producer and one consumer at a time. If a producer dies, its unpublished records vanish.
 */
import { randomInt } from 'node:crypto';
import { waitAsync } from '../base/wait-async.ts';
import type { TakenOver } from '../forward/reader-path/reader-host.ts';
import { ENVELOPE, hashClient } from '../socket/envelope.ts';

const TAIL = 0;
const HEAD = 1;
const SLEEPING = 2;
const DROPPED = 3;
const SEED = 4;
const CLIENTS = 8;
const CLIENT_GROUPS = 1024;
const CONTROL_WORDS = CLIENTS + CLIENT_GROUPS;
const CONTROL_OCTETS = CONTROL_WORDS * 4;
const ARRIVED = 24;
const RECORD_HEADER = 32;
const QUERY = RECORD_HEADER + ENVELOPE.OCTETS;

/** @param octets for records, a power of two */
export function makeQuestionRing(octets: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(CONTROL_OCTETS + octets);
  // With a known seed a client could choose an address of another client's group, and use up its share.
  new Int32Array(memory)[SEED] = randomInt(2 ** 31);
  return memory;
}

/** Kinds of records other than questions, in the field of the socket. */
export const RECORD = { REPLY: 0xffff, CUT_REPLY: 0xfffe, FAILURE: 0xfffd } as const;

const NOT_ASKED: TakenOver = { ticket: 0, server: 0, elapsed: 0 };
const NOTHING = new Uint8Array(0);

/** Writes the envelope of a packet, see `PacketBatch.writeEnvelope`. */
type WriteEnvelope = { writeEnvelope(index: number, target: Uint8Array, at: number): void };

/** The reader thread's end. */
export class QuestionProducer {
  readonly #atoms: Int32Array;
  readonly #words: Uint32Array;
  readonly #times: Float64Array;
  readonly #octets: Uint8Array;
  readonly #capacity: number;
  readonly #seed: number;
  readonly #onDropped: (socket: number) => void;
  /** Octets that were free when a record was reserved last. */
  #free = 0;

  /** @param onDropped called with the socket of a question that does not fit */
  constructor(memory: SharedArrayBuffer, onDropped: (socket: number) => void = () => {}) {
    this.#onDropped = onDropped;
    this.#atoms = new Int32Array(memory, 0, CONTROL_WORDS);
    this.#words = new Uint32Array(memory, CONTROL_OCTETS);
    this.#times = new Float64Array(memory, CONTROL_OCTETS);
    this.#octets = new Uint8Array(memory, CONTROL_OCTETS);
    this.#capacity = this.#octets.length;
    this.#seed = this.#atoms[SEED] ?? 0;
  }

  /**
   * Hands over packet `index` of a batch.
   *
   * @param packets the batch's memory
   * @param arrived when the packet came, in milliseconds of the monotonic clock that all threads share
   * @param about the upstream query that the reader has already sent
   * @returns whether it had to wake the main thread
   */
  push(
    socket: number,
    batch: WriteEnvelope,
    index: number,
    packets: Uint8Array,
    start: number,
    length: number,
    arrived: number,
    about: Readonly<TakenOver> = NOT_ASKED,
  ): boolean {
    const size = (QUERY + length + 7) & ~7;
    const at = this.#reserve(size);
    if (at < 0) return this.#drop(socket);
    batch.writeEnvelope(index, this.#octets, at + RECORD_HEADER);
    const group = hashClient(this.#octets, at + RECORD_HEADER, this.#seed) & (CLIENT_GROUPS - 1);
    return this.#write(at, size, group, socket, packets, start, length, arrived, about);
  }

  /** Hands over a reply to a question that was handed over before. @returns as for `push` */
  pushReply(ticket: number, isCut: boolean, packets: Uint8Array, start: number, length: number): boolean {
    return this.#pushAbout(ticket, isCut ? RECORD.CUT_REPLY : RECORD.REPLY, 0, packets, start, length);
  }

  /** Hands over a network error for the query of such a question. @returns as for `push` */
  pushFailure(ticket: number, errno: number): boolean {
    return this.#pushAbout(ticket, RECORD.FAILURE, errno, NOTHING, 0, 0);
  }

  /** Wakes the main thread if it sleeps. @returns whether it did */
  wake(): boolean {
    if (Atomics.exchange(this.#atoms, SLEEPING, 0) === 0) return false;
    Atomics.notify(this.#atoms, SLEEPING);
    return true;
  }

  #pushAbout(
    ticket: number,
    kind: number,
    errno: number,
    packets: Uint8Array,
    start: number,
    length: number,
  ): boolean {
    const size = (QUERY + length + 7) & ~7;
    const at = this.#reserve(size);
    if (at < 0) return this.#drop(kind);
    const about = { ticket, server: errno, elapsed: 0 };
    return this.#write(at, size, ticket & (CLIENT_GROUPS - 1), kind, packets, start, length, 0, about);
  }

  #write(
    at: number,
    size: number,
    group: number,
    socket: number,
    packets: Uint8Array,
    start: number,
    length: number,
    arrived: number,
    about: Readonly<TakenOver>,
  ): boolean {
    if (Atomics.load(this.#atoms, CLIENTS + group) + size > this.#free) return this.#drop(socket);
    this.#words[at >> 2] = size;
    this.#words[(at >> 2) + 1] = socket | (length << 16);
    this.#words[(at >> 2) + 2] = group;
    this.#words[(at >> 2) + 3] = about.ticket;
    this.#words[(at >> 2) + 4] = about.server;
    this.#words[(at >> 2) + 5] = about.elapsed;
    this.#times[(at + ARRIVED) >> 3] = arrived;
    for (let octet = 0; octet < length; octet++)
      this.#octets[at + QUERY + octet] = packets[start + octet] ?? 0;
    Atomics.add(this.#atoms, TAIL, size);
    // After publication: a producer that dies between the two leaves the client a little more room, not less for ever.
    Atomics.add(this.#atoms, CLIENTS + group, size);
    return this.wake();
  }

  /** @param socket or the kind of a record about a question, which the main thread has got */
  #drop(socket: number): false {
    Atomics.add(this.#atoms, DROPPED, 1);
    if (socket < RECORD.FAILURE) this.#onDropped(socket);
    return false;
  }

  /** Reserves a place for a record of this size; -1 if the ring is full. Skips the end of the memory if it is too short. */
  #reserve(size: number): number {
    const tail = Atomics.load(this.#atoms, TAIL);
    const free = this.#capacity - ((tail - Atomics.load(this.#atoms, HEAD)) >>> 0);
    const at = tail & (this.#capacity - 1);
    const left = this.#capacity - at;
    this.#free = free;
    if (size <= left) return size <= free ? at : -1;
    if (left + size > free) return -1;
    this.#words[at >> 2] = 0;
    Atomics.add(this.#atoms, TAIL, left);
    return 0;
  }
}

/** The memory that `take` fills. */
export interface QuestionTarget {
  /** The envelope, then the query. */
  readonly octets: Uint8Array;
  /** Replaces `octets` with longer memory. */
  enlarge(octets: number): void;
  /** The index of the reader's socket, or one of `RECORD`; and the octets of the query. */
  socket: number;
  length: number;
  /** When it came, in milliseconds of the monotonic clock. */
  arrived: number;
  /** The upstream query that the reader has already sent; for a failure, `server` is the error number. */
  readonly about: TakenOver;
}

/** The main thread's end. */
export class QuestionConsumer {
  readonly #atoms: Int32Array;
  readonly #words: Uint32Array;
  readonly #times: Float64Array;
  readonly #octets: Uint8Array;
  readonly #mask: number;

  constructor(memory: SharedArrayBuffer) {
    this.#atoms = new Int32Array(memory, 0, CONTROL_WORDS);
    this.#words = new Uint32Array(memory, CONTROL_OCTETS);
    this.#times = new Float64Array(memory, CONTROL_OCTETS);
    this.#octets = new Uint8Array(memory, CONTROL_OCTETS);
    this.#mask = this.#octets.length - 1;
  }

  /** Takes the oldest question out. @returns whether the ring had one */
  take(into: QuestionTarget): boolean {
    for (;;) {
      const head = Atomics.load(this.#atoms, HEAD);
      if (head === Atomics.load(this.#atoms, TAIL)) return false;
      const at = head & this.#mask;
      const size = this.#words[at >> 2] ?? 0;
      if (size === 0) {
        Atomics.add(this.#atoms, HEAD, this.#mask + 1 - at);
        continue;
      }
      const shape = this.#words[(at >> 2) + 1] ?? 0;
      into.socket = shape & 0xffff;
      into.length = shape >>> 16;
      into.about.ticket = this.#words[(at >> 2) + 3] ?? 0;
      into.about.server = this.#words[(at >> 2) + 4] ?? 0;
      into.about.elapsed = this.#words[(at >> 2) + 5] ?? 0;
      into.arrived = this.#times[(at + ARRIVED) >> 3] ?? 0;
      const end = ENVELOPE.OCTETS + into.length;
      const from = at + RECORD_HEADER;
      if (into.octets.length < end) into.enlarge(end);
      for (let octet = 0; octet < end; octet++) into.octets[octet] = this.#octets[from + octet] ?? 0;
      Atomics.sub(this.#atoms, CLIENTS + (this.#words[(at >> 2) + 2] ?? 0), size);
      Atomics.add(this.#atoms, HEAD, size);
      return true;
    }
  }

  /** Requests a wake-up by the next question. Returns false, without a request, if there is one already. */
  sleep(): boolean {
    Atomics.store(this.#atoms, SLEEPING, 1);
    if (Atomics.load(this.#atoms, HEAD) === Atomics.load(this.#atoms, TAIL)) return true;
    Atomics.store(this.#atoms, SLEEPING, 0);
    return false;
  }

  /**
   * Call it after `sleep`: settles at the next question. Undefined if a question is waiting already.
   *
   * A notified promise costs the two threads together about 15 us less than a message from one to the other.
   */
  awake(): Promise<unknown> | undefined {
    return waitAsync(this.#atoms, SLEEPING, 1);
  }

  /** Questions dropped because the ring, or their client's share of it, was full, modulo 2^32. */
  countDropped(): number {
    return Atomics.load(this.#atoms, DROPPED) >>> 0;
  }
}
