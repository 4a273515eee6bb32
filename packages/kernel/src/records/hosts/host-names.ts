/**
 * Names and their addresses from hosts files, in the memory of the answer table: many names for an address, several addresses for a
 * name, and the names of each address.
 *
 * Lists of blocked names have a million lines. A name costs a few words beside its octets, and stands there once, for readers and for
 * the handler chain. Names are added first; `show` then shows all of them to readers, with one store.
 */
import { isWildcardName } from '@portolan/dns/name-wire.ts';
import { decodeReverseName, encodeReverseName } from '@portolan/dns/reverse-wire.ts';
import type { WireName } from '@portolan/dns/types.ts';
import type { RecordSpace } from '../../table/record-space.ts';
import type { ZoneId } from '../../table/types.ts';
import { EntryChunks } from './entry-chunks.ts';
import { EntryKey } from './entry-key.ts';
import { EntrySlots } from './entry-slots.ts';
import {
  ADDRESS,
  ADDRESS_FLAG,
  APART,
  HASH_MASK,
  LEADS_SHIFT,
  LIST,
  LIST_FLAG,
  MAX_ADDRESSES,
  MAX_POINTERS,
  NAME_MASK,
  ORIGIN_SHIFT,
  PAIR,
  PLACE_MASK,
  wordsOfAddress,
  wordsOfName,
} from './layout.ts';

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
  /** The number of its origin. */
  readonly origin: number;
}

export interface HostPointer extends HostOrigin {
  /** A view. */
  readonly target: WireName;
}

/** How names and addresses belong together. */
export interface HostRules {
  readonly zone: ZoneId;
  /** The counter of hits. */
  readonly outcome: number;
  /** Whether a name with addresses of one family has no data of the other; if not, others may know such addresses. */
  readonly answersBoth: boolean;
  /** Whether an address leads to all of its names, to the first one, or to none. */
  readonly leadsTo: 'all' | 'first' | 'none';
  /** Whether an address that is repeated for a name is answered twice. */
  readonly keepsRepeated: boolean;
}

/** Further ones could never be answered: section counts have 16 bits. */
const MAX_PAIRS = 0xffff;
/** No message has more PTR records, as short as they may be. */
const MAX_LISTED_POINTERS = 5000;
const NO_ORIGIN: HostOrigin = { ttl: 0, file: undefined };

export class HostNames {
  readonly #space: RecordSpace;
  readonly #rules: HostRules;
  readonly #atoms: Int32Array;
  /** What is looked for. */
  readonly #key: EntryKey;
  readonly #names: EntryChunks;
  readonly #others: EntryChunks;
  readonly #addresses: EntryChunks;
  #nameSlots: EntrySlots;
  #addressSlots: EntrySlots;
  readonly #origins: HostOrigin[] = [];
  /** What has nodes: the first pairs of names, with the number of all of their pairs; and addresses. */
  readonly #apartNames = new Map<number, number>();
  readonly #apartAddresses = new Set<number>();
  /** Blocks of the table: where they begin, and their octets. */
  readonly #blocks: { readonly block: number; readonly octets: number }[] = [];
  /** Whether a name may also be the reverse name of an address. */
  #hasArpaNames = false;
  /** Whether the names are counted as entries of the table. */
  #isShown = false;
  #size = 0;
  #reversed = 0;
  /** Pairs of each kind of question: each address of a name, and each name of an address. */
  entries = 0;

  /** @param expected approximate number of names */
  constructor(space: RecordSpace, rules: HostRules, expected = 0) {
    this.#space = space;
    this.#rules = rules;
    this.#atoms = space.views.atoms;
    this.#key = new EntryKey(space);
    this.#names = new EntryChunks(space);
    this.#others = new EntryChunks(space);
    this.#addresses = new EntryChunks(space);
    this.#nameSlots = new EntrySlots(expected);
    this.#addressSlots = new EntrySlots(0);
  }

  /** Numbers an origin, for `add`. */
  addOrigin(origin: HostOrigin): number {
    const last = this.#origins.at(-1);
    const isSame = last?.ttl === origin.ttl && last.file === origin.file;
    return isSame ? this.#origins.length - 1 : this.#origins.push(origin) - 1;
  }

  /**
   * @param name lower case
   * @param octets 4 or 16, the address
   * @throws TableFullError
   */
  add(name: WireName, octets: Uint8Array, origin: number): void {
    const address = this.#obtainAddress(octets);
    const key = this.#key;
    key.load(name);
    const known = this.#find(key);
    if (known === 0) {
      const pair = this.#names.take(wordsOfName(name.length));
      this.#atoms[pair + PAIR.NEXT_OF_NAME] = 0;
      key.write(pair + PAIR.KEY);
      this.#write(pair, address, name.length | (origin << ORIGIN_SHIFT), name);
      this.#nameSlots.add(key.hash, pair);
      this.#size += 1;
      this.#hasArpaNames ||= decodeReverseName(name) !== undefined;
      return;
    }
    const held = this.#countPairs(known, this.#rules.keepsRepeated ? 0 : address);
    if (held < 0 || held >= MAX_PAIRS) return;
    const pair = this.#others.take(PAIR.KEY + 1);
    const atoms = this.#atoms;
    atoms[pair + PAIR.KEY] = known;
    this.#write(pair, address, origin << ORIGIN_SHIFT, name);
    const last = atoms[known + PAIR.NEXT_OF_NAME] ?? 0;
    atoms[pair + PAIR.NEXT_OF_NAME] = last === 0 ? pair : (atoms[last + PAIR.NEXT_OF_NAME] ?? 0);
    if (last !== 0) atoms[last + PAIR.NEXT_OF_NAME] = pair;
    atoms[known + PAIR.NEXT_OF_NAME] = pair;
    if (held >= MAX_ADDRESSES) this.#setApart(known, held + 1);
  }

  /** Has a name answered by a node of its own, also as that of an address. */
  setApart(name: WireName): void {
    const pair = this.#findName(name);
    if (pair !== 0) this.#setApart(pair, this.#countPairs(pair, 0));
    const address = this.#leadingAddress(name);
    if (address !== 0) this.#setAddressApart(address);
  }

  #setApart(pair: number, pairs: number): void {
    this.#apartNames.set(pair, pairs);
    this.#atoms[pair + PAIR.SHAPE] = (this.#atoms[pair + PAIR.SHAPE] ?? 0) | APART;
  }

  #setAddressApart(address: number): void {
    this.#apartAddresses.add(address);
    const at = address + ADDRESS.LEADS;
    this.#atoms[at] = (this.#atoms[at] ?? 0) | ADDRESS_FLAG.APART;
  }

  /** Names that have nodes of their own. Each is valid until the next. */
  *namesApart(): Generator<WireName, void> {
    for (const pair of this.#apartNames.keys()) yield this.#nameAt(pair);
    for (const address of this.#apartAddresses) {
      const name = encodeReverseName(this.#octetsAt(address));
      if (!this.#apartNames.has(this.#findName(name))) yield name;
    }
  }

  isApart(name: WireName): boolean {
    const pair = this.#findName(name);
    if (pair !== 0 && this.#apartNames.has(pair)) return true;
    return this.#apartAddresses.size > 0 && this.#apartAddresses.has(this.#leadingAddress(name));
  }

  /** The number of names. */
  get size(): number {
    return this.#size;
  }

  /** The number of addresses that lead to a name. */
  get reversed(): number {
    return this.#reversed;
  }

  /** Shows all names to readers, in place of those that were shown before. @throws TableFullError */
  show(): void {
    if (this.#size === 0) {
      // Readers then skip the list.
      this.#space.show(0);
      return;
    }
    const { zone, outcome, answersBoth, leadsTo } = this.#rules;
    const octets = (LIST.TTLS + this.#origins.length) * 4;
    const names = this.#moveSlots(this.#nameSlots);
    const addresses = this.#moveSlots(this.#addressSlots);
    const block = this.#take(octets);
    const list = block >> 2;
    const atoms = this.#atoms;
    const both = answersBoth ? LIST_FLAG.ANSWERS_BOTH : 0;
    atoms[list + LIST.FLAGS] = LIST_FLAG.HOSTS | both | (leadsTo === 'none' ? 0 : LIST_FLAG.HAS_REVERSE);
    atoms[list + LIST.SIZE] = octets;
    atoms[list + LIST.ZONE] = zone;
    atoms[list + LIST.OUTCOME] = outcome;
    atoms[list + LIST.NAMES] = names;
    atoms[list + LIST.NAME_SHIFT] = Math.log2(this.#nameSlots.fit());
    atoms[list + LIST.ADDRESSES] = addresses;
    atoms[list + LIST.ADDRESS_SHIFT] = Math.log2(this.#addressSlots.fit());
    for (const [index, { ttl }] of this.#origins.entries()) atoms[list + LIST.TTLS + index] = ttl;
    this.#space.show(block);
    this.#space.countEntries(this.#size);
    this.#isShown = true;
  }

  /** Forgets all names, and gives the memory back once readers have left it. Readers must not see the names any more. */
  retire(): void {
    if (this.#isShown) this.#space.countEntries(-this.#size);
    this.#isShown = false;
    this.#size = 0;
    this.#reversed = 0;
    this.#nameSlots = new EntrySlots(0);
    this.#addressSlots = new EntrySlots(0);
    this.#apartNames.clear();
    this.#apartAddresses.clear();
    for (const chunks of [this.#names, this.#others, this.#addresses]) chunks.retire();
    for (const { block, octets } of this.#blocks) this.#space.retire(block, octets);
    this.#blocks.length = 0;
  }

  /** All names, in the order in which they were added. Views, as all names here. */
  *names(): Generator<WireName, void> {
    for (const pair of this.#pairs()) yield this.#nameAt(pair);
  }

  /** The names of all addresses that lead to a name, but those that are among `names`. Each is valid until the next. */
  *reverseNames(): Generator<WireName, void> {
    for (const { start, end } of this.#addresses.parts())
      for (let entry = start; entry < end; entry += wordsOfAddress(this.#atoms[entry] ?? 0)) {
        if (this.#findFirstPair(entry) === 0) continue;
        const name = encodeReverseName(this.#octetsAt(entry));
        if (!this.#hasArpaNames || this.#findName(name) === 0) yield name;
      }
  }

  /** The addresses of a name in the order of their lines; empty for an unknown name. */
  findAddresses(name: WireName): readonly HostAddress[] {
    const first = this.#findName(name);
    return first === 0 ? [] : Array.from(this.#listPairs(first), (pair) => this.#readAddress(pair));
  }

  has(name: WireName): boolean {
    return this.#findName(name) !== 0;
  }

  /** The number of the IPv4 addresses of a name. */
  countIpv4(name: WireName): number {
    const first = this.#findName(name);
    if (first === 0) return 0;
    // Nearly all names have one address.
    if (this.#isSingle(first)) return this.#isIpv4(first) ? 1 : 0;
    let count = 0;
    for (const pair of this.#listPairs(first)) if (this.#isIpv4(pair)) count += 1;
    return count;
  }

  /** The first name of the address that a name of the reverse tree represents. */
  pointer(name: WireName): HostPointer | undefined {
    const address = this.#leadingAddress(name);
    return address === 0 ? undefined : this.#readPointer(this.#findFirstPair(address));
  }

  /** All names of the address, in the order of their lines, as far as a message could have them. */
  pointers(name: WireName): readonly HostPointer[] {
    const address = this.#leadingAddress(name);
    if (address === 0) return [];
    const pointers: HostPointer[] = [];
    const last = (this.#atoms[address] ?? 0) >>> LEADS_SHIFT;
    let pair = this.#findFirstPair(address);
    while (pointers.push(this.#readPointer(pair)) < MAX_LISTED_POINTERS && pair !== last)
      pair = this.#atoms[pair + PAIR.NEXT_OF_ADDRESS] ?? 0;
    return pointers;
  }

  /** Whether a name has the same addresses in the same order, with the same TTLs, here and in `other`. */
  hasSameAddresses(name: WireName, other: HostNames): boolean {
    const here = this.#findName(name);
    const there = other.#findName(name);
    if (here === 0 || there === 0) return here === there;
    // Nearly all names have one address.
    if (this.#isSingle(here) && other.#isSingle(there)) return this.#isSame(here, other, there);
    const own = [...this.#listPairs(here)];
    const others = [...other.#listPairs(there)];
    return (
      own.length === others.length && own.every((pair, at) => this.#isSame(pair, other, others[at] ?? 0))
    );
  }

  /** Whether a name of the reverse tree points to the same name, with the same TTL, here and in `other`. */
  hasSamePointer(name: WireName, other: HostNames): boolean {
    const here = this.pointer(name);
    const there = other.pointer(name);
    if (here === undefined || there === undefined) return here === there;
    return here.ttl === there.ttl && Buffer.compare(here.target, there.target) === 0;
  }

  /** The first pairs of all names. */
  *#pairs(): Generator<number, void> {
    for (const { start, end } of this.#names.parts())
      for (let pair = start; pair < end; pair += wordsOfName(this.#lengthAt(pair))) yield pair;
  }

  *#listPairs(first: number): Generator<number, void> {
    yield first;
    const last = this.#atoms[first + PAIR.NEXT_OF_NAME] ?? 0;
    for (let pair = last; pair !== 0; ) {
      pair = this.#atoms[pair + PAIR.NEXT_OF_NAME] ?? 0;
      yield pair;
      if (pair === last) return;
    }
  }

  /** @param address not to be found, or 0 @returns how many pairs a name has; -1: one of them has the address */
  #countPairs(first: number, address: number): number {
    const atoms = this.#atoms;
    const counted = address === 0 ? this.#apartNames.get(first) : undefined;
    if (counted !== undefined) return counted;
    if (address !== 0 && atoms[first + PAIR.ADDRESS] === address) return -1;
    let count = 1;
    const last = atoms[first + PAIR.NEXT_OF_NAME] ?? 0;
    for (let pair = last; pair !== 0 && count < MAX_PAIRS; count += 1) {
      pair = atoms[pair + PAIR.NEXT_OF_NAME] ?? 0;
      if (address !== 0 && atoms[pair + PAIR.ADDRESS] === address) return -1;
      if (pair === last) return count + 1;
    }
    return count;
  }

  #isSingle(first: number): boolean {
    return this.#atoms[first + PAIR.NEXT_OF_NAME] === 0;
  }

  #isIpv4(pair: number): boolean {
    return this.#sizeAt(this.#atoms[pair + PAIR.ADDRESS] ?? 0) === 4;
  }

  #isSame(pair: number, other: HostNames, otherPair: number): boolean {
    const here = this.#readAddress(pair);
    const there = other.#readAddress(otherPair);
    return here.ttl === there.ttl && Buffer.compare(here.octets, there.octets) === 0;
  }

  #readAddress(pair: number): HostAddress {
    const origin = (this.#atoms[pair + PAIR.SHAPE] ?? 0) >>> ORIGIN_SHIFT;
    const { ttl, file } = this.#origins[origin] ?? NO_ORIGIN;
    return { octets: this.#octetsAt(this.#atoms[pair + PAIR.ADDRESS] ?? 0), origin, ttl, file };
  }

  #readPointer(pair: number): HostPointer {
    const named = this.#lengthAt(pair) === 0 ? (this.#atoms[pair + PAIR.KEY] ?? 0) : pair;
    const { ttl, file } = this.#readAddress(pair);
    return { target: this.#nameAt(named), ttl, file };
  }

  /** Writes what all pairs have, and lets the address lead to the name. */
  #write(pair: number, address: number, shape: number, name: WireName): void {
    const atoms = this.#atoms;
    atoms[pair + PAIR.ADDRESS] = address;
    atoms[pair + PAIR.NEXT_OF_ADDRESS] = 0;
    atoms[pair + PAIR.SHAPE] = shape;
    this.entries += 1;
    const { leadsTo } = this.#rules;
    const leads = atoms[address + ADDRESS.LEADS] ?? 0;
    const last = leads >>> LEADS_SHIFT;
    if (leadsTo === 'none' || (leadsTo === 'first' && last !== 0)) return;
    if (leadsTo === 'all' && isWildcardName(name)) return;
    this.entries += 1;
    if (last === 0) this.#reversed += 1;
    atoms[pair + PAIR.NEXT_OF_ADDRESS] = last === 0 ? pair : (atoms[last + PAIR.NEXT_OF_ADDRESS] ?? 0);
    if (last !== 0) atoms[last + PAIR.NEXT_OF_ADDRESS] = pair;
    atoms[address + ADDRESS.LEADS] = (pair << LEADS_SHIFT) | (leads & ((1 << LEADS_SHIFT) - 1));
    const isApart = (leads & ADDRESS_FLAG.APART) !== 0;
    if (last !== 0 && !isApart && this.#hasManyNames(pair)) this.#setAddressApart(address);
  }

  /** @param last the last pair that an address leads to */
  #hasManyNames(last: number): boolean {
    let count = 0;
    let pair = last;
    do {
      pair = this.#atoms[pair + PAIR.NEXT_OF_ADDRESS] ?? 0;
      count += 1;
    } while (pair !== last && count <= MAX_POINTERS);
    return count > MAX_POINTERS;
  }

  #obtainAddress(octets: Uint8Array): number {
    const key = this.#key;
    key.load(octets);
    const known = this.#findAddress(key);
    if (known !== 0) return known;
    const flags = octets.length === 16 ? ADDRESS_FLAG.IPV6 : 0;
    const entry = this.#addresses.take(wordsOfAddress(flags));
    this.#atoms[entry + ADDRESS.LEADS] = flags;
    key.write(entry + ADDRESS.OCTETS);
    this.#addressSlots.add(key.hash, entry);
    return entry;
  }

  /** The address that a name of the reverse tree stands for, if it leads to a name; else 0. */
  #leadingAddress(name: WireName): number {
    const octets = decodeReverseName(name);
    if (octets === undefined) return 0;
    this.#key.load(octets);
    const entry = this.#findAddress(this.#key);
    return entry !== 0 && this.#findFirstPair(entry) !== 0 ? entry : 0;
  }

  /** The first pair that an address leads to, or 0. */
  #findFirstPair(address: number): number {
    const last = (this.#atoms[address + ADDRESS.LEADS] ?? 0) >>> LEADS_SHIFT;
    return last === 0 ? 0 : (this.#atoms[last + PAIR.NEXT_OF_ADDRESS] ?? 0);
  }

  #findName(name: WireName): number {
    if (this.#size === 0) return 0;
    this.#key.load(name);
    return this.#find(this.#key);
  }

  /** The first pair of a name, or 0. */
  #find(name: EntryKey): number {
    const { hash } = name;
    const slots = this.#nameSlots;
    for (let slot = slots.first(hash); ; slot = slots.next(slot)) {
      const word = slots.at(slot);
      if (word === 0) return 0;
      const pair = word & PLACE_MASK;
      if (((word ^ hash) & HASH_MASK) === 0 && this.#lengthAt(pair) === name.length)
        if (name.isAt(pair + PAIR.KEY)) return pair;
    }
  }

  #findAddress(address: EntryKey): number {
    const { hash } = address;
    const slots = this.#addressSlots;
    for (let slot = slots.first(hash); ; slot = slots.next(slot)) {
      const word = slots.at(slot);
      if (word === 0) return 0;
      const entry = word & PLACE_MASK;
      if (((word ^ hash) & HASH_MASK) === 0 && this.#sizeAt(entry) === address.length)
        if (address.isAt(entry + ADDRESS.OCTETS)) return entry;
    }
  }

  #lengthAt(pair: number): number {
    return (this.#atoms[pair + PAIR.SHAPE] ?? 0) & NAME_MASK;
  }

  #nameAt(pair: number): WireName {
    const start = (pair + PAIR.KEY) << 2;
    // It was a WireName when it was added.
    return this.#space.views.octets.subarray(start, start + this.#lengthAt(pair)) as WireName;
  }

  #sizeAt(address: number): number {
    return (this.#atoms[address + ADDRESS.LEADS] ?? 0) & ADDRESS_FLAG.IPV6 ? 16 : 4;
  }

  #octetsAt(address: number): Uint8Array {
    const start = (address + ADDRESS.OCTETS) << 2;
    return this.#space.views.octets.subarray(start, start + this.#sizeAt(address));
  }

  /** @returns the first word */
  #moveSlots(slots: EntrySlots): number {
    const count = slots.fit();
    const first = this.#take(count * 4) >> 2;
    slots.moveTo(this.#atoms.subarray(first, first + count));
    return first;
  }

  #take(octets: number): number {
    const block = this.#space.take(octets);
    this.#blocks.push({ block, octets });
    return block;
  }
}
