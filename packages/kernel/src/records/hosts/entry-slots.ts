/**
 * A hash index of entries stored elsewhere: open addressing with linear probing, a word per slot. It grows in memory of its own. An index
 * of entries in the table moves to the table as it is, once it is complete.
 */
import { HASH_MASK, PLACE_MASK } from './layout.ts';

const MIN_SLOTS = 16;

/** The slots for so many entries: at least a quarter is empty. */
const slotsFor = (entries: number): number =>
  2 ** Math.ceil(Math.log2(Math.max(MIN_SLOTS, (entries * 4) / 3)));

export class EntrySlots {
  readonly #hashEntry: ((entry: number) => number) | undefined;
  #slots: Int32Array;
  #count = 0;
  /** Each entry with its hash, in the order of `add`; empty if entries can be hashed again. */
  #noted = new Int32Array(0);

  /**
   * @param expected number of entries: the index grows for more
   * @param hashEntry returns the hash that an entry was added with. Without it the index notes all hashes until it moves: two words for an
   *   entry, but it grows in a fraction of the time
   */
  constructor(expected: number, hashEntry?: (entry: number) => number) {
    this.#hashEntry = hashEntry;
    this.#slots = new Int32Array(slotsFor(expected));
  }

  get count(): number {
    return this.#count;
  }

  /** The first slot that may have an entry of this hash. Go on with `next` until `at` returns 0. */
  first(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  /** A slot: the place of an entry and, in the upper bits, bits of its hash; 0 if it is empty. */
  at(slot: number): number {
    return this.#slots[slot] ?? 0;
  }

  /** Adds a new entry. @param entry its place, more than 0 */
  add(hash: number, entry: number): void {
    if ((this.#count + 1) * 4 > this.#slots.length * 3) this.#resize(this.#slots.length * 2);
    if (this.#hashEntry === undefined) this.#note(hash, entry);
    this.#count += 1;
    this.#put(hash, entry);
  }

  /** Makes no more slots than the entries need. @returns how many */
  fit(): number {
    const fitting = slotsFor(this.#count);
    if (fitting < this.#slots.length) this.#resize(fitting);
    return this.#slots.length;
  }

  /** Moves the slots to memory of the table. No entry is added any more. @param memory as many words as `fit` returned */
  moveTo(memory: Int32Array): void {
    memory.set(this.#slots);
    this.#slots = memory;
    this.#noted = new Int32Array(0);
  }

  #put(hash: number, entry: number): void {
    let slot = this.first(hash);
    while (this.at(slot) !== 0) slot = this.next(slot);
    this.#slots[slot] = entry | (hash & HASH_MASK);
  }

  #note(hash: number, entry: number): void {
    const at = 2 * this.#count;
    if (at === this.#noted.length) {
      const former = this.#noted;
      this.#noted = new Int32Array(Math.max(2 * MIN_SLOTS, 2 * at));
      this.#noted.set(former);
    }
    this.#noted[at] = entry;
    this.#noted[at + 1] = hash;
  }

  #resize(slots: number): void {
    const old = this.#slots;
    this.#slots = new Int32Array(slots);
    if (this.#hashEntry === undefined) {
      const end = 2 * this.#count;
      for (let at = 0; at < end; at += 2) this.#put(this.#noted[at + 1] ?? 0, this.#noted[at] ?? 0);
      return;
    }
    for (const word of old) {
      const entry = word & PLACE_MASK;
      if (entry !== 0) this.#put(this.#hashEntry(entry), entry);
    }
  }
}
