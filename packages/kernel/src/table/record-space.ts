/**
 * The entries of one publication that are no name nodes: they share the table's index, memory and reclaiming with the
 * nodes. What they mean is up to `records/`.
 *
 * An entry has a key of octets and never moves while it exists. Its further words may change, each with one store.
 */
import { TableFullError } from './arena.ts';
import { addWord, finishHash, hashName, joinSums, KEYS_PER_WORD } from './hash.ts';
import { encodeShape, padded, UNIT_SHIFT } from './layout.ts';
import type { TableViews, WriterMemory } from './memory.ts';
import type { Slots } from './slots.ts';
import type { PublicationId } from './types.ts';

export interface RecordSpaceParts {
  readonly memory: WriterMemory;
  readonly slots: Slots;
  /** Frees a slot that an entry of this hash could take. @returns whether one was found */
  readonly evictNear: (hash: number) => boolean;
  /** The keys of the hash. */
  readonly keys: Int32Array;
  readonly publication: PublicationId;
  readonly salt: number;
  /** Shows readers the place of the block that says how answers are composed. */
  readonly show: (place: number) => void;
}

/** Octets that the keys of the hash suffice for. Only keys that readers never look for are longer. */
const MAX_HASHED = 256;

/** The end of a run is given back in blocks of this size. */
const RUN_PIECE = 1024;

/** Words that all entries have: hash, shape, one of their own, size. */
export const ENTRY = { HASH: 0, SHAPE: 4, SIZE: 12, OCTETS: 16 } as const;

export class RecordSpace {
  readonly views: TableViews;
  readonly #parts: RecordSpaceParts;
  entries = 0;
  /** Octets of all blocks. */
  octets = 0;

  constructor(parts: RecordSpaceParts) {
    this.#parts = parts;
    this.views = parts.memory.views;
  }

  /**
   * @param start where the key begins in an entry of this kind
   * @returns the octet of the entry, or 0
   */
  find(kind: number, key: Uint8Array, start: number): number {
    return this.#find(this.hashKey(kind, key), this.#computeShape(kind, key), key, start);
  }

  /**
   * Adds an entry, whose key is not there yet. All words between its head and its key are zero.
   *
   * @returns the octet of the entry
   * @throws TableFullError and leaves the table as it was
   */
  add(kind: number, key: Uint8Array, start: number): number {
    return this.#insert(this.hashKey(kind, key), this.#computeShape(kind, key), key, start);
  }

  /** The entry of a key, which is added if there is none. @throws TableFullError and leaves the table as it was */
  obtain(kind: number, key: Uint8Array, start: number): number {
    const hash = this.hashKey(kind, key);
    const shape = this.#computeShape(kind, key);
    const known = this.#find(hash, shape, key, start);
    return known === 0 ? this.#insert(hash, shape, key, start) : known;
  }

  #insert(hash: number, shape: number, key: Uint8Array, start: number): number {
    const { slots, evictNear } = this.#parts;
    const { octets, words } = this.views;
    const size = start + padded(key.length);
    const block = this.take(size);
    for (let word = block >> 2, end = (block + size) >> 2; word < end; word++) words[word] = 0;
    words[block >> 2] = hash;
    words[(block + ENTRY.SHAPE) >> 2] = shape;
    words[(block + ENTRY.SIZE) >> 2] = size;
    for (let at = 0; at < key.length; at++) octets[block + start + at] = key[at] ?? 0;
    while (!slots.insert(hash, block)) {
      if (evictNear(hash)) continue;
      this.give(block, size);
      throw new TableFullError(size);
    }
    this.entries++;
    return block;
  }

  /** Removes an entry from the index; readers may use it until they leave. */
  remove(block: number): void {
    const { slots } = this.#parts;
    const slot = slots.find(this.views.atoms[block >> 2] ?? 0, (candidate) => candidate === block);
    if (slot >= 0) slots.remove(slot);
    this.entries--;
    this.retire(block, this.views.words[(block + ENTRY.SIZE) >> 2] ?? 0);
  }

  /** A block without an entry of its own, with whatever it held before. @throws TableFullError */
  take(size: number): number {
    const block = this.#parts.memory.arena.take(size);
    this.octets += size;
    return block;
  }

  /**
   * Zeroed memory for many blocks and entries, which lie one behind another, each rounded by `roundToClass`. They are counted by
   * `count`, and given back one by one.
   *
   * @param entries how many of them are entries, which `place` adds
   * @returns the octet of the first one
   * @throws TableFullError
   */
  takeRun(octets: number, entries: number): number {
    this.#parts.slots.reserve(entries);
    return this.#parts.memory.arena.takeRun(octets);
  }

  /** Counts entries that are not in the table's index. */
  countEntries(more: number): void {
    this.entries += more;
  }

  /** Counts a block of a run. */
  count(size: number): void {
    this.octets += size;
  }

  /** Gives back the end of a run, which is no block. */
  giveRun(at: number, octets: number): void {
    for (let left = octets; left > 0; left -= RUN_PIECE)
      this.#parts.memory.arena.give(at + octets - left, Math.min(left, RUN_PIECE));
  }

  /**
   * Makes an entry of memory of a run that has a key.
   *
   * @param length octets of the key
   * @param start where the key begins in the entry
   * @returns the octet of the entry; of another one if the key is there already; 0: the index has no room for it
   */
  place(block: number, kind: number, length: number, start: number): number {
    const { atoms, octets } = this.views;
    const { keys, salt, slots, publication } = this.#parts;
    const size = start + padded(length);
    let one = 0;
    let other = 0;
    for (let at = block + start, key = 0; at < block + size; at += 4, key += KEYS_PER_WORD) {
      const word = atoms[at >> 2] ?? 0;
      one = addWord(one, keys, key, word);
      other = addWord(other, keys, key + 2, word);
    }
    const isHashed = length <= MAX_HASHED;
    const key = block + start;
    atoms[block >> 2] = isHashed
      ? finishHash(joinSums(one, other) ^ salt ^ kind)
      : this.hashKey(kind, octets.subarray(key, key + length));
    atoms[(block + ENTRY.SHAPE) >> 2] = encodeShape(length & 0xff, kind, publication);
    atoms[(block + ENTRY.SIZE) >> 2] = size;
    const entry = slots.insertNew(block, start);
    if (entry !== block) return entry;
    this.octets += size;
    this.entries++;
    return entry;
  }

  /** Gives back a block that no reader has seen. */
  give(block: number, size: number): void {
    this.octets -= size;
    this.#parts.memory.arena.give(block, size);
  }

  /** Gives back a block that readers cannot find any more, once they have left it. */
  retire(block: number, size: number): void {
    const { arena, reclaimer } = this.#parts.memory;
    this.octets -= size;
    reclaimer.retire(() => arena.give(block, size));
  }

  /** Sets a word that readers may read at this moment. */
  store(at: number, value: number): void {
    Atomics.store(this.views.atoms, at >> 2, value);
  }

  /** Shows readers the block that says how answers are composed from these entries; 0: none. */
  show(block: number): void {
    this.#parts.show(block >> UNIT_SHIFT);
  }

  /** The finished hash of a key of a kind. */
  hashKey(kind: number, key: Uint8Array): number {
    const { keys, salt } = this.#parts;
    if (key.length <= MAX_HASHED) return finishHash(hashName(key, keys) ^ salt ^ kind);
    const rest = finishHash(hashName(key.subarray(MAX_HASHED), keys));
    return finishHash(hashName(key.subarray(0, MAX_HASHED), keys) ^ salt ^ kind ^ rest);
  }

  /** The finished hash of a key of kind 0, as words padded with zeros. */
  hashOfWords(words: Int32Array, from: number, count: number): number {
    const { keys, salt } = this.#parts;
    let one = 0;
    let other = 0;
    for (let at = 0; at < count; at++) {
      const word = words[from + at] ?? 0;
      one = addWord(one, keys, at * KEYS_PER_WORD, word);
      other = addWord(other, keys, at * KEYS_PER_WORD + 2, word);
    }
    return finishHash(joinSums(one, other) ^ salt);
  }

  #computeShape(kind: number, key: Uint8Array): number {
    return encodeShape(key.length & 0xff, kind, this.#parts.publication);
  }

  #find(hash: number, shape: number, key: Uint8Array, start: number): number {
    const { slots } = this.#parts;
    let block = slots.findNext(hash, 0);
    while (block !== 0 && !this.#hasKey(block, shape, key, start)) block = slots.findNext(hash, block);
    return block;
  }

  #hasKey(block: number, shape: number, key: Uint8Array, start: number): boolean {
    const { atoms, octets } = this.views;
    if (atoms[(block + ENTRY.SHAPE) >> 2] !== shape) return false;
    if (atoms[(block + ENTRY.SIZE) >> 2] !== start + padded(key.length)) return false;
    for (let at = 0; at < key.length; at++) if (octets[block + start + at] !== key[at]) return false;
    return true;
  }
}
