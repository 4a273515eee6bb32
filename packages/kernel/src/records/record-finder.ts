/**
 * Finds the entries of a cluster's records: the reader's side. The main thread uses it too, for what it derives.
 */
import type { KeyOctets } from '../table/composer.ts';
import { addWord, finishHash, joinSums, KEYS_PER_WORD } from '../table/hash.ts';
import { EMPTY, encodeShape, HEADER, PAGE_SHIFT, PROBES, REMOVED, UNIT_SHIFT } from '../table/layout.ts';
import type { TableViews } from '../table/memory.ts';
import { ENTRY } from '../table/record-space.ts';
import {
  CELL,
  ENDPOINT_INDEX,
  MAX_HINTS,
  SECTION,
  SERVICE,
  SLICE_LIST,
  SLICE_RECORD,
  SLOT_SHIFT,
} from './layout.ts';

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
    const hash = this.hashKey(key, from, length, kind);
    const shape = encodeShape(length & 0xff, kind, this.#publication);
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

  /** The finished hash of a key, as `RecordSpace.hashWireName` has it. */
  hashKey(key: KeyOctets, from: number, length: number, kind: number): number {
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

/** Selects sections of a service's slices. */
export interface SectionFilter {
  includes(section: number): boolean;
}

/** Walks the sections of a service's slices, in the order of their slots or of its index. */
export class SectionWalk {
  readonly #atoms: Int32Array;
  #list = 0;
  #slots = 0;
  #slot = 0;
  #left = 0;
  /** The index that is followed, 0 for none; the hash that is sought, the next cell, and the cells that are left. */
  #index = 0;
  #hash = 0;
  #cell = 0;
  #mask = 0;
  #cells = 0;
  /** The current section, as an octet. */
  section = 0;
  /** In the first section that the index leads to: which ready endpoint of its slice matches; -1: any. */
  hint = -1;

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
    this.#index = 0;
    this.hint = -1;
  }

  /** Begins with only the slice in this slot. @returns whether there is such a slot */
  beginAt(service: number, slot: number): boolean {
    this.begin(service);
    if (slot < 0 || slot >= this.#slots) return false;
    this.#slot = slot;
    this.#slots = slot + 1;
    return true;
  }

  /** Begins with the slices in some slots, from one to before another. */
  beginBetween(service: number, from: number, to: number): void {
    this.begin(service);
    this.#slot = from;
    this.#slots = Math.min(this.#slots, to);
  }

  /**
   * The slot of an endpoint of a service that has an index, and its number in `hint`: each one is as likely.
   *
   * @returns -1 if no endpoint is there
   */
  slotAt(service: number, random: number): number {
    const atoms = this.#atoms;
    const index = atoms[(service + SERVICE.INDEX) >> 2] ?? 0;
    if (index === 0) return -1;
    const mask = (1 << (atoms[(index + ENDPOINT_INDEX.SHIFT) >> 2] ?? 0)) - 1;
    const cell = index + ENDPOINT_INDEX.CELLS + (random & mask) * CELL.OCTETS;
    const place = atoms[(cell + CELL.PLACE) >> 2] ?? 0;
    this.hint = (place & MAX_HINTS) - 1;
    return place > 0 ? (place >> SLOT_SHIFT) - 1 : -1;
  }

  /** Begins with the slices that may have endpoints of a hash, of `INDEXED`: all of a service without an index. */
  beginIndexed(service: number, hash: number): void {
    this.begin(service);
    const atoms = this.#atoms;
    const index = atoms[(service + SERVICE.INDEX) >> 2] ?? 0;
    if (index === 0) return;
    this.#index = index;
    this.#hash = hash;
    this.#cells = 1 << (atoms[(index + ENDPOINT_INDEX.SHIFT) >> 2] ?? 0);
    this.#mask = this.#cells - 1;
    this.#cell = hash & this.#mask;
  }

  /** Whether it follows an index. */
  get isIndexed(): boolean {
    return this.#index !== 0;
  }

  /** Whether the index that it follows has labels that are made from IPv6 addresses. */
  get hasMadeLabels(): boolean {
    return (this.#atoms[(this.#index + ENDPOINT_INDEX.MADE) >> 2] ?? 0) > 0;
  }

  /** Moves on to the next section. @returns whether there is one */
  next(): boolean {
    const atoms = this.#atoms;
    if (this.#left > 0) {
      this.#left--;
      this.hint = -1;
      this.section += atoms[(this.section + SECTION.SIZE) >> 2] ?? 0;
      return true;
    }
    for (let slot = this.#nextSlot(); slot >= 0; slot = this.#nextSlot()) {
      const record = atoms[((this.#list + SLICE_LIST.RECORDS) >> 2) + slot] ?? 0;
      if (record === 0) continue;
      const sections = atoms[(record + SLICE_RECORD.SECTIONS) >> 2] ?? 0;
      if (sections === 0) continue;
      this.#left = sections - 1;
      this.section = record + SLICE_RECORD.FIRST;
      return true;
    }
    return false;
  }

  /** Passes over the rest of the slice. */
  leaveSlice(): void {
    this.#left = 0;
  }

  /** The sections of the slice that follow the current one. */
  get sectionsLeft(): number {
    return this.#left;
  }

  #nextSlot(): number {
    if (this.#index === 0) return this.#slot < this.#slots ? this.#slot++ : -1;
    const atoms = this.#atoms;
    for (; this.#cells > 0; this.#cells--) {
      const at = (this.#index + ENDPOINT_INDEX.CELLS + this.#cell * CELL.OCTETS) >> 2;
      this.#cell = (this.#cell + 1) & this.#mask;
      const place = atoms[at + (CELL.PLACE >> 2)] ?? 0;
      if (place === 0) return -1;
      const slot = (place >> SLOT_SHIFT) - 1;
      // The index may know a slot that the list does not have yet.
      if (slot < 0 || slot >= this.#slots || atoms[at] !== this.#hash) continue;
      this.#cells--;
      this.hint = (place & MAX_HINTS) - 1;
      return slot;
    }
    return -1;
  }
}
