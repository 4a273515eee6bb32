/**
 * A set of names in wire form, each with a number: a million names take some 40 MB. As strings in a `Map` they would take
 * three times as much.
 */
import type { WireName } from '@portolan/dns/types.ts';
import { EntrySlots } from '@portolan/kernel/records/hosts/entry-slots.ts';
import { HASH_MASK, PLACE_MASK } from '@portolan/kernel/records/hosts/layout.ts';
import { finishHash, HASH_KEYS, hashName } from '@portolan/kernel/table/hash.ts';
import { drawRandom } from '@portolan/kernel/table/salts.ts';
import { WordStore } from './word-store.ts';

/** The position of a name in a set, from 1. 0 means no entry. */
export type NamePosition = number;

/** The first word of an entry is its number; then follow the length of its name and the name. */
const LENGTH = 4;
const NAME = 5;
const MIN_WORDS = 2;

/** The keys are random, so that a crafted file cannot make names collide. */
const KEYS = Int32Array.from({ length: HASH_KEYS }, drawRandom);

/** @param name at most 255 octets */
const hashWireName = (name: Uint8Array): number => finishHash(hashName(name, KEYS));

const wordsFor = (length: number): number => (NAME + length + 3) >> 2;

export class NameSet {
  readonly #store = new WordStore();
  readonly #slots: EntrySlots;

  /** @param expected approximate number of names */
  constructor(expected = 0) {
    this.#slots = new EntrySlots(expected, (entry) => hashWireName(this.name(entry)));
  }

  get size(): number {
    return this.#slots.count;
  }

  find(name: Uint8Array): NamePosition {
    return this.size === 0 ? 0 : this.#find(name, hashWireName(name));
  }

  /** The entry of the name; if missing, a new one with the number 0. @param name lower case */
  add(name: WireName): NamePosition {
    const hash = hashWireName(name);
    const known = this.#find(name, hash);
    if (known !== 0) return known;
    const entry = this.#store.take(wordsFor(name.length));
    this.#store.setOctet(entry, LENGTH, name.length);
    this.#store.setOctets(entry, NAME, name);
    this.#slots.add(hash, entry);
    return entry;
  }

  readNumber(entry: NamePosition): number {
    return this.#store.get(entry);
  }

  setNumber(entry: NamePosition, number: number): void {
    this.#store.set(entry, number);
  }

  /** A view of the name. */
  name(entry: NamePosition): WireName {
    // It was a WireName when it was added.
    return this.#store.octets(entry, NAME, this.#store.octet(entry, LENGTH)) as WireName;
  }

  /** All entries, in the order in which they were added. */
  *entries(): Generator<NamePosition, void> {
    const store = this.#store;
    for (let entry = 1; entry < store.end; ) {
      const length = store.roomAt(entry) < MIN_WORDS ? 0 : store.octet(entry, LENGTH);
      if (length === 0) entry = store.firstInNextChunk(entry);
      else {
        yield entry;
        entry += wordsFor(length);
      }
    }
  }

  #find(name: Uint8Array, hash: number): NamePosition {
    const slots = this.#slots;
    for (let slot = slots.first(hash); ; slot = slots.next(slot)) {
      const word = slots.at(slot);
      if (word === 0) return 0;
      const entry = word & PLACE_MASK;
      if (((word ^ hash) & HASH_MASK) === 0 && this.#isAt(entry, name)) return entry;
    }
  }

  #isAt(entry: NamePosition, name: Uint8Array): boolean {
    return this.#store.octet(entry, LENGTH) === name.length && this.#store.holds(entry, NAME, name);
  }
}
