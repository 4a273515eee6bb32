/**
 * Finds the entries of a cluster's records: the reader's side. The main thread uses it too, for what it derives.
 */
import type { KeyOctets } from '../table/composer.ts';
import { addWord, finishHash, joinSums, KEYS_PER_WORD } from '../table/hash.ts';
import { EMPTY, HEADER, PAGE_SHIFT, PROBES, REMOVED, shapeOf, UNIT_SHIFT } from '../table/layout.ts';
import type { TableViews } from '../table/memory.ts';
import { ENTRY } from '../table/record-space.ts';
import { SECTION, SERVICE, SLICE_LIST, SLICE_RECORD } from './layout.ts';

/** Which octets of the last word belong to a key, by its length modulo 4. */
const LAST_WORD = Int32Array.of(-1, 0xff, 0xffff, 0xffffff);

export class RecordFinder {
  readonly #views: TableViews;
  readonly #keys: Int32Array;
  /** The publication that is searched, and its salt. */
  #salt = 0;
  #publication = 0;

  /** @param keys those of the hash */
  constructor(views: TableViews, keys: Int32Array) {
    this.#views = views;
    this.#keys = keys;
  }

  /** Sets where to search. */
  use(publication: number, salt: number): void {
    this.#publication = publication;
    this.#salt = salt;
  }

  /**
   * @param key has the key from octet `from` on
   * @param start where keys begin in entries of this kind
   * @returns the octet of the entry, or 0
   */
  find(kind: number, key: KeyOctets, from: number, length: number, start: number): number {
    const atoms = this.#views.atoms;
    const hash = this.#hash(key, from, length, kind);
    const shape = shapeOf(length & 0xff, kind, this.#publication);
    const index = atoms[HEADER.INDEX] ?? 0;
    const base = (index >>> 5) << (PAGE_SHIFT - 2);
    const mask = (1 << (index & 31)) - 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const place = atoms[base + ((hash + probe) & mask)] ?? EMPTY;
      if (place === EMPTY) return 0;
      if (place === REMOVED) continue;
      const block = place << UNIT_SHIFT;
      if (atoms[block >> 2] !== hash || atoms[(block + ENTRY.SHAPE) >> 2] !== shape) continue;
      if (this.#hasKey(block + start, key, from, length)) return block;
    }
    return 0;
  }

  #hash(key: KeyOctets, from: number, length: number, kind: number): number {
    const keys = this.#keys;
    let one = 0;
    let other = 0;
    for (let at = 0, index = 0; at < length; at += 4, index += KEYS_PER_WORD) {
      const left = length - at;
      const word = left >= 4 ? key.wordAt(from + at) : key.wordAt(from + at) & (LAST_WORD[left] ?? 0);
      one = addWord(one, keys, index, word);
      other = addWord(other, keys, index + 2, word);
    }
    return finishHash(joinSums(one, other) ^ this.#salt ^ kind);
  }

  #hasKey(start: number, key: KeyOctets, from: number, length: number): boolean {
    const { atoms } = this.#views;
    for (let at = 0; at < length; at += 4) {
      const left = length - at;
      const word = left >= 4 ? key.wordAt(from + at) : key.wordAt(from + at) & (LAST_WORD[left] ?? 0);
      if (atoms[(start + at) >> 2] !== word) return false;
    }
    return true;
  }
}

/** Walks the sections of a service's slices, in the order of their slots. */
export class SectionWalk {
  readonly #atoms: Int32Array;
  #list = 0;
  #slots = 0;
  #slot = 0;
  #left = 0;
  /** The current section, as an octet. */
  section = 0;

  constructor(views: TableViews) {
    this.#atoms = views.atoms;
  }

  /** @param service the octet of its entry */
  begin(service: number): void {
    const atoms = this.#atoms;
    this.#list = atoms[(service + SERVICE.SLICES) >> 2] ?? 0;
    this.#slots = this.#list === 0 ? 0 : (atoms[(this.#list + SLICE_LIST.SLOTS) >> 2] ?? 0);
    this.#slot = 0;
    this.#left = 0;
  }

  /** Begins with only the slice in this slot. @returns whether there is such a slot */
  beginAt(service: number, slot: number): boolean {
    this.begin(service);
    if (slot < 0 || slot >= this.#slots) return false;
    this.#slot = slot;
    this.#slots = slot + 1;
    return true;
  }

  /** Moves on to the next section. @returns whether there is one */
  next(): boolean {
    const atoms = this.#atoms;
    if (this.#left > 0) {
      this.#left--;
      this.section += atoms[(this.section + SECTION.SIZE) >> 2] ?? 0;
      return true;
    }
    while (this.#slot < this.#slots) {
      const record = atoms[((this.#list + SLICE_LIST.RECORDS) >> 2) + this.#slot] ?? 0;
      this.#slot++;
      if (record === 0) continue;
      const sections = atoms[(record + SLICE_RECORD.SECTIONS) >> 2] ?? 0;
      if (sections === 0) continue;
      this.#left = sections - 1;
      this.section = record + SLICE_RECORD.FIRST;
      return true;
    }
    return false;
  }
}
