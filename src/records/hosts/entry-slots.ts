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
  readonly #hashOf: (entry: number) => number;
  #slots: Int32Array;
  #count = 0;

  /**
   * @param hashOf returns the hash that an entry was added with
   * @param expected number of entries: the index grows for more
   */
  constructor(hashOf: (entry: number) => number, expected: number) {
    this.#hashOf = hashOf;
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
    this.#count += 1;
    if (this.#count * 4 > this.#slots.length * 3) this.#resize(this.#slots.length * 2);
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
  }

  #put(hash: number, entry: number): void {
    let slot = this.first(hash);
    while (this.at(slot) !== 0) slot = this.next(slot);
    this.#slots[slot] = entry | (hash & HASH_MASK);
  }

  #resize(slots: number): void {
    const old = this.#slots;
    this.#slots = new Int32Array(slots);
    for (const word of old) {
      const entry = word & PLACE_MASK;
      if (entry !== 0) this.#put(this.#hashOf(entry), entry);
    }
  }
}
