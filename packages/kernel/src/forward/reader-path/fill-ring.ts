/**
 * The ring of replies that a reader has sent to its clients: the main thread puts them into the cache.
 *
 * Four words, then a power of two of octets for consecutive records, which never wrap around the end. Positions count
 * octets ever written, modulo 2^32. A reply that does not fit is not cached, which is harmless.
 *
 *     word 0   tail: up to where the reader has written    word 1   head: up to where the main thread has taken
 *     word 2   1 while no thread reads the ring            word 3   free
 *
 *     A record   0   its octets, or 0: the rest of the memory is unused
 *                4   octets of the packet | clients << 16
 *                8   server                  12  generation, see `SharedWords`
 *                16  microseconds that the reply took
 *                20  octets of header and question | flags << 16
 *                24  octets of the entry for the cache; 0: the main thread makes an entry if needed
 *                28  the number of the policy that the entry was made by
 *                32  the number of the route
 *                36  the packet, padded to 8 octets; the entry, likewise
 *
 * A record stays readable for the reader until it is taken: until then, equal questions are answered from it.
 */

const TAIL = 0;
const HEAD = 1;
const SLEEPING = 2;
const CONTROL_WORDS = 4;
const CONTROL_OCTETS = CONTROL_WORDS * 4;
const PACKET = 36;

/** Flags that tell apart answers to the same question, and whether the query had EDNS. */
export const FILL_FLAG = { DNSSEC_OK: 1, CHECKING_DISABLED: 2, HAD_EDNS: 4 } as const;

/** @param octets for records, a power of two */
export function makeFillRing(octets: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(CONTROL_OCTETS + octets);
  new Int32Array(memory)[SLEEPING] = 1;
  return memory;
}

/** A reply for the main thread. */
export interface Fill {
  clients: number;
  server: number;
  generation: number;
  microseconds: number;
  questionEnd: number;
  flags: number;
  entryLength: number;
  policy: number;
  route: number;
}

/** The offset of the entry in a record, after a packet of this length. */
const entryBehind = (length: number): number => (PACKET + length + 7) & ~7;

/** The reader thread's end. */
export class FillProducer {
  /** The memory of the records. */
  readonly octets: Uint8Array;
  /** Where the packet of the last pushed record begins in `octets`. */
  packetAt = 0;
  /** The position after the last pushed record. */
  end = 0;
  readonly #atoms: Int32Array;
  readonly #words: Uint32Array;
  readonly #capacity: number;

  constructor(memory: SharedArrayBuffer) {
    this.#atoms = new Int32Array(memory, 0, CONTROL_WORDS);
    this.#words = new Uint32Array(memory, CONTROL_OCTETS);
    this.octets = new Uint8Array(memory, CONTROL_OCTETS);
    this.#capacity = this.octets.length;
  }

  /**
   * @param entry memory that begins with the entry of `fill.entryLength` octets, whole words
   * @returns whether there was room
   */
  push(fill: Readonly<Fill>, packet: Uint8Array, start: number, length: number, entry: Uint32Array): boolean {
    const { entryLength } = fill;
    const entryAt = entryBehind(length);
    const size = (entryAt + entryLength + 7) & ~7;
    const at = this.#reserve(size);
    if (at < 0) return false;
    const word = at >> 2;
    this.#words[word] = size;
    this.#words[word + 1] = length | (Math.min(fill.clients, 0xffff) << 16);
    this.#words[word + 2] = fill.server;
    this.#words[word + 3] = fill.generation;
    this.#words[word + 4] = fill.microseconds;
    this.#words[word + 5] = fill.questionEnd | (fill.flags << 16);
    this.#words[word + 6] = entryLength;
    this.#words[word + 7] = fill.policy;
    this.#words[word + 8] = fill.route;
    for (let octet = 0; octet < length; octet++)
      this.octets[at + PACKET + octet] = packet[start + octet] ?? 0;
    const entryWord = (at + entryAt) >> 2;
    for (let each = 0; each < entryLength >> 2; each++) this.#words[entryWord + each] = entry[each] ?? 0;
    this.packetAt = at + PACKET;
    this.end = (Atomics.add(this.#atoms, TAIL, size) + size) | 0;
    return true;
  }

  /** Whether the record that ends at a position was taken. */
  isTaken(end: number): boolean {
    return ((Atomics.load(this.#atoms, HEAD) - end) | 0) >= 0;
  }

  /** Whether to wake the main thread: it does not poll the ring, or the ring is half full. */
  needsWaking(): boolean {
    if (Atomics.exchange(this.#atoms, SLEEPING, 0) === 1) return true;
    const used = (Atomics.load(this.#atoms, TAIL) - Atomics.load(this.#atoms, HEAD)) >>> 0;
    return used > this.#capacity >> 1;
  }

  /** Reserves a place for a record of this size; -1 if the ring is full. Skips the end of the memory if it is too short. */
  #reserve(size: number): number {
    const tail = Atomics.load(this.#atoms, TAIL);
    const free = this.#capacity - ((tail - Atomics.load(this.#atoms, HEAD)) >>> 0);
    const at = tail & (this.#capacity - 1);
    const left = this.#capacity - at;
    if (size <= left) return size <= free ? at : -1;
    if (left + size > free) return -1;
    this.#words[at >> 2] = 0;
    Atomics.add(this.#atoms, TAIL, left);
    return 0;
  }
}

/** The main thread's end. */
export class FillConsumer implements Fill {
  clients = 0;
  server = 0;
  generation = 0;
  microseconds = 0;
  questionEnd = 0;
  flags = 0;
  entryLength = 0;
  policy = 0;
  route = 0;
  /** The memory of the records, and the offset of the packet. */
  readonly octets: Uint8Array;
  start = 0;
  length = 0;
  /** The same memory as words, and the first word of the entry. */
  readonly words: Uint32Array;
  entryWord = 0;
  readonly #atoms: Int32Array;
  readonly #mask: number;
  #size = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#atoms = new Int32Array(memory, 0, CONTROL_WORDS);
    this.words = new Uint32Array(memory, CONTROL_OCTETS);
    this.octets = new Uint8Array(memory, CONTROL_OCTETS);
    this.#mask = this.octets.length - 1;
  }

  /** Records in the packet's authority section: a reader accepts 1 only for a denial. */
  get authorities(): number {
    return ((this.octets[this.start + 8] ?? 0) << 8) | (this.octets[this.start + 9] ?? 0);
  }

  /** The response code of the packet. */
  get rcode(): number {
    return (this.octets[this.start + 3] ?? 0) & 0x0f;
  }

  /** Reads the oldest record. It stays until `release`. @returns whether there is one */
  read(): boolean {
    for (;;) {
      const head = Atomics.load(this.#atoms, HEAD);
      if (head === Atomics.load(this.#atoms, TAIL)) return false;
      const at = head & this.#mask;
      const word = at >> 2;
      this.#size = this.words[word] ?? 0;
      if (this.#size === 0) {
        Atomics.add(this.#atoms, HEAD, this.#mask + 1 - at);
        continue;
      }
      const packet = this.words[word + 1] ?? 0;
      this.length = packet & 0xffff;
      this.clients = packet >>> 16;
      this.server = this.words[word + 2] ?? 0;
      this.generation = (this.words[word + 3] ?? 0) | 0;
      this.microseconds = this.words[word + 4] ?? 0;
      const question = this.words[word + 5] ?? 0;
      this.questionEnd = question & 0xffff;
      this.flags = question >>> 16;
      this.entryLength = this.words[word + 6] ?? 0;
      this.policy = this.words[word + 7] ?? 0;
      this.route = this.words[word + 8] ?? 0;
      this.start = at + PACKET;
      this.entryWord = (at + entryBehind(this.length)) >> 2;
      return true;
    }
  }

  /** Releases the record just read: it is cached, or never will be. */
  release(): void {
    Atomics.add(this.#atoms, HEAD, this.#size);
  }

  /** Requests a wake-up by the next record. @returns whether the ring is empty */
  sleep(): boolean {
    Atomics.store(this.#atoms, SLEEPING, 1);
    return Atomics.load(this.#atoms, HEAD) === Atomics.load(this.#atoms, TAIL);
  }
}
