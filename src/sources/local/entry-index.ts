/**
 * A hash index of entries stored elsewhere: open addressing with linear probing, four octets per slot.
 *
 * It uses the hash function of the answer table with its own random keys, so a crafted file cannot make entries collide.
 */
import { finishHash, HASH_KEYS, hashName } from '../../table/hash.ts';
import { drawRandom } from '../../table/salts.ts';

const KEYS = Int32Array.from({ length: HASH_KEYS }, drawRandom);

/** @param octets at most 255 */
export const hashOctets = (octets: Uint8Array): number => finishHash(hashName(octets, KEYS));

const MIN_SLOTS = 64;

export class EntryIndex {
  readonly #hashOf: (entry: number) => number;
  #slots: Int32Array;
  #count = 0;

  /**
   * @param hashOf returns the hash that an entry was added with
   * @param expected number of entries: the index grows for more
   */
  constructor(hashOf: (entry: number) => number, expected = 0) {
    this.#hashOf = hashOf;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(MIN_SLOTS, expected * 1.5))));
  }

  get count(): number {
    return this.#count;
  }

  /** The first slot that may have an entry of this hash. Go on with `next` while `at` returns entries. */
  first(hash: number): number {
    return hash & (this.#slots.length - 1);
  }

  next(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }

  /** The entry in a slot; 0 if it is empty. */
  at(slot: number): number {
    return this.#slots[slot] ?? 0;
  }

  /** Adds a new entry. @param entry more than 0 */
  add(hash: number, entry: number): void {
    this.#count += 1;
    if (this.#count * 4 > this.#slots.length * 3) this.#grow();
    this.#put(hash, entry);
  }

  #put(hash: number, entry: number): void {
    let slot = this.first(hash);
    while (this.at(slot) !== 0) slot = this.next(slot);
    this.#slots[slot] = entry;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(old.length * 2);
    for (const entry of old) if (entry !== 0) this.#put(this.#hashOf(entry), entry);
  }
}
