/**
 * Names and their addresses from hosts files: many names for an address, several addresses for a name, and for each address
 * the first of its names.
 *
 * Lists of blocked names have a million lines, so it holds no object per line: names and addresses are words in a few large
 * arrays. Names with only one address, the same, share its record.
 */
import { decodeReverseName, encodeReverseName } from '../../wire/reverse-wire.ts';
import type { WireName } from '../../wire/types.ts';
import { EntryIndex, hashOctets } from './entry-index.ts';
import { type NamePosition, NameSet } from './name-set.ts';
import { WordStore } from './word-store.ts';

/** The origin of an address. */
export interface HostOrigin {
  /** Seconds. */
  readonly ttl: number;
  /** Its hosts file; undefined for an option. */
  readonly file: string | undefined;
}

export interface HostAddress extends HostOrigin {
  /** 4 or 16, a view. */
  readonly octets: Uint8Array;
}

export interface HostPointer extends HostOrigin {
  /** A view. */
  readonly target: WireName;
}

/**
 * The record of an address: flags and the number of its origin, the next address of the same name, the entry of the first
 * name of this address (0 if another record has it), and the octets.
 */
const RECORD = { META: 0, NEXT: 1, FIRST_NAME: 2, OCTETS: 3 } as const;
const IPV6 = 1;
/** The first address of a name: other names with only this address may share the record. */
const IS_FIRST = 2;
const IS_SHARED = 4;
/** Set in every record; an all-zero word is an empty slot. */
const IS_RECORD = 8;
const ORIGIN_SHIFT = 4;

const NO_ORIGIN: HostOrigin = { ttl: 0, file: undefined };

const wordsOf = (meta: number): number => RECORD.OCTETS + (meta & IPV6 ? 4 : 1);

export class HostNames {
  /** With the first record of each. */
  readonly #names: NameSet;
  readonly #records = new WordStore();
  /** The records with a first name. */
  readonly #byAddress = new EntryIndex((record) => hashOctets(this.#octets(record)));
  readonly #origins: HostOrigin[] = [];
  /** Whether a name may also be the reverse name of an address. */
  #hasArpaNames = false;
  /** The last listed name, with its entry or its record: callers ask about it next. */
  #listed: WireName | undefined;
  #listedEntry = 0;
  #listedRecord = 0;

  /** @param expected approximate number of names */
  constructor(expected = 0) {
    this.#names = new NameSet(expected);
  }

  /** Numbers an origin, for `add`. */
  addOrigin(origin: HostOrigin): number {
    const last = this.#origins.at(-1);
    const isSame = last?.ttl === origin.ttl && last.file === origin.file;
    return isSame ? this.#origins.length - 1 : this.#origins.push(origin) - 1;
  }

  /** @param address 4 or 16 octets */
  add(name: WireName, address: Uint8Array, origin: number): void {
    const entry = this.#names.add(name);
    const first = this.#names.numberOf(entry);
    if (first === 0) {
      this.#names.setNumber(entry, this.#firstRecord(entry, address, origin));
      this.#hasArpaNames ||= decodeReverseName(name) !== undefined;
    }
    if (first !== 0 && !this.#has(first, address)) this.#append(entry, first, address, origin);
  }

  get size(): number {
    return this.#names.size;
  }

  /** Names with an address. Views, as all names here. */
  *names(): Generator<WireName, void> {
    for (const entry of this.#names.entries()) yield this.#list(this.#names.name(entry), entry, 0);
  }

  /** The reverse names of all addresses that are not among `names`. Each is valid until the next. */
  *reverseNames(): Generator<WireName, void> {
    const records = this.#records;
    for (let record = 1; record < records.end; ) {
      const words = wordsOf(records.get(record));
      if (records.roomAt(record) < words || records.get(record) === 0)
        record = records.firstInNextChunk(record);
      else {
        if (records.get(record + RECORD.FIRST_NAME) !== 0) {
          const name = encodeReverseName(this.#octets(record));
          if (!this.#hasArpaNames || this.#names.find(name) === 0) yield this.#list(name, 0, record);
        }
        record += words;
      }
    }
  }

  /** The addresses of a name in the order of their lines; empty for an unknown name. */
  addressesOf(name: WireName): readonly HostAddress[] {
    const addresses: HostAddress[] = [];
    for (let record = this.#recordOf(name); record !== 0; record = this.#next(record))
      addresses.push({ octets: this.#octets(record), ...this.#originOf(record) });
    return addresses;
  }

  has(name: WireName): boolean {
    return this.#entryOf(name) !== 0;
  }

  /** The number of the IPv4 addresses of a name. */
  countIpv4(name: WireName): number {
    let count = 0;
    for (let record = this.#recordOf(name); record !== 0; record = this.#next(record))
      if ((this.#records.get(record) & IPV6) === 0) count += 1;
    return count;
  }

  /** A number that names with a shared address have in common; 0 for all others. */
  sharedAddress(name: WireName): number {
    const record = this.#recordOf(name);
    return this.#records.get(record) & IS_SHARED ? record : 0;
  }

  /** The first name of the address that a name of the reverse tree represents. */
  pointer(name: WireName): HostPointer | undefined {
    const record = this.#pointerRecord(name);
    if (record === 0) return undefined;
    const target = this.#names.name(this.#records.get(record + RECORD.FIRST_NAME));
    return { target, ...this.#originOf(record) };
  }

  /** Whether a name has the same addresses in the same order, with the same TTLs, here and in `other`. */
  hasSameAddresses(name: WireName, other: HostNames): boolean {
    let here = this.#recordOf(name);
    let there = other.#recordOf(name);
    while (here !== 0 && there !== 0 && this.#isSame(here, other, there)) {
      here = this.#next(here);
      there = other.#next(there);
    }
    return here === 0 && there === 0;
  }

  /** Whether a name of the reverse tree points to the same name, with the same TTL, here and in `other`. */
  hasSamePointer(name: WireName, other: HostNames): boolean {
    const [here, there] = [this.pointer(name), other.pointer(name)];
    if (here === undefined || there === undefined) return here === there;
    return here.ttl === there.ttl && Buffer.compare(here.target, there.target) === 0;
  }

  #isSame(record: number, other: HostNames, otherRecord: number): boolean {
    const octets = this.#octets(record);
    return (
      octets.length === other.#length(otherRecord) &&
      other.#records.holds(otherRecord, RECORD.OCTETS * 4, octets) &&
      this.#originOf(record).ttl === other.#originOf(otherRecord).ttl
    );
  }

  #list(name: WireName, entry: NamePosition, record: number): WireName {
    this.#listed = name;
    this.#listedEntry = entry;
    this.#listedRecord = record;
    return name;
  }

  #entryOf(name: WireName): NamePosition {
    return name === this.#listed ? this.#listedEntry : this.#names.find(name);
  }

  #pointerRecord(name: WireName): number {
    if (name === this.#listed && this.#listedRecord !== 0) return this.#listedRecord;
    const address = decodeReverseName(name);
    return address === undefined ? 0 : this.#find(address);
  }

  #recordOf(name: WireName): number {
    const entry = this.#entryOf(name);
    return entry === 0 ? 0 : this.#names.numberOf(entry);
  }

  /** The first record for a name that has no records yet. */
  #firstRecord(entry: NamePosition, address: Uint8Array, origin: number): number {
    const known = this.#find(address);
    if (known === 0) return this.#make(address, origin, IS_FIRST, entry);
    const meta = this.#records.get(known);
    const isSharable = (meta & IS_FIRST) !== 0 && meta >>> ORIGIN_SHIFT === origin && this.#next(known) === 0;
    if (!isSharable) return this.#make(address, origin, 0, 0);
    this.#records.set(known, meta | IS_SHARED);
    return known;
  }

  #append(entry: NamePosition, first: number, address: Uint8Array, origin: number): void {
    let last = first;
    if (this.#records.get(first) & IS_SHARED) {
      last = this.#copy(first);
      this.#names.setNumber(entry, last);
    } else while (this.#next(last) !== 0) last = this.#next(last);
    const firstName = this.#find(address) === 0 ? entry : 0;
    this.#records.set(last + RECORD.NEXT, this.#make(address, origin, 0, firstName));
  }

  #copy(record: number): number {
    return this.#make(this.#octets(record), this.#records.get(record) >>> ORIGIN_SHIFT, 0, 0);
  }

  /** @param firstName 0 if another record has it */
  #make(address: Uint8Array, origin: number, flags: number, firstName: NamePosition): number {
    const family = address.length === 4 ? 0 : IPV6;
    const meta = family | flags | IS_RECORD | (origin << ORIGIN_SHIFT);
    const record = this.#records.take(wordsOf(meta));
    this.#records.set(record, meta);
    this.#records.set(record + RECORD.FIRST_NAME, firstName);
    this.#records.setOctets(record, RECORD.OCTETS * 4, address);
    if (firstName !== 0) this.#byAddress.add(hashOctets(address), record);
    return record;
  }

  #has(first: number, address: Uint8Array): boolean {
    for (let record = first; record !== 0; record = this.#next(record))
      if (this.#holds(record, address)) return true;
    return false;
  }

  #holds(record: number, address: Uint8Array): boolean {
    return this.#length(record) === address.length && this.#records.holds(record, RECORD.OCTETS * 4, address);
  }

  /** The record of an address that holds its first name; 0 if it does not exist. */
  #find(address: Uint8Array): number {
    const index = this.#byAddress;
    for (let slot = index.first(hashOctets(address)); ; slot = index.next(slot)) {
      const record = index.at(slot);
      if (record === 0 || this.#holds(record, address)) return record;
    }
  }

  #next(record: number): number {
    return this.#records.get(record + RECORD.NEXT);
  }

  #length(record: number): number {
    return this.#records.get(record) & IPV6 ? 16 : 4;
  }

  #octets(record: number): Uint8Array {
    return this.#records.octets(record, RECORD.OCTETS * 4, this.#length(record));
  }

  #originOf(record: number): HostOrigin {
    return this.#origins[this.#records.get(record) >>> ORIGIN_SHIFT] ?? NO_ORIGIN;
  }
}
