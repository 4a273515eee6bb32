/**
 * The search lists of clients, by address: what a client's resolver appends to a name that it looks for.
 *
 * A list is an immutable block, shared by all clients that search alike; its domains include the root. An address is an
 * entry of the index, in a publication of its own, and refers to its list by one word:
 *
 *     the entry of an address (key: 4 or 16 octets)     a list
 *
 *     16  the octet of its list                         0   octets of the whole block
 *     20  the key                                       4   domains
 *                                                       8   per domain: octets | labels << 8, the name, padded
 */
import type { WireName } from '@portolan/dns/types.ts';
import { AF_INET, IPV4_AT, IPV6_AT } from '../socket/linux.ts';
import { TableFullError } from './arena.ts';
import { addWord, countLabels, finishHash, HASH_KEYS, joinSums, KEYS_PER_WORD } from './hash.ts';
import {
  EMPTY,
  encodeShape,
  HEADER,
  KIND,
  PAGE_SHIFT,
  PROBES,
  PUBLICATION,
  padded,
  REMOVED,
  UNIT_SHIFT,
} from './layout.ts';
import type { TableViews } from './memory.ts';
import { ENTRY, type RecordSpace } from './record-space.ts';
import { MAX_SEARCHED, type PublicationId } from './types.ts';
import type { TableWriter } from './writer.ts';

const ENTRY_OF_ADDRESS = { LIST: 16, KEY: 20 } as const;
export const SEARCH_LIST = { SIZE: 0, COUNT: 4, FIRST: 8 } as const;

const IPV4_OCTETS = 4;
const IPV6_OCTETS = 16;
/** The third word of an IPv6 address that maps one of IPv4. */
const MAPPED = 0xffff0000 | 0;

const ENTRIES_OF_STEP = 256;

interface SharedList {
  readonly text: string;
  readonly block: number;
  readonly size: number;
  users: number;
}

/** The writer's side. */
export class SearchLists {
  readonly publication: PublicationId;
  readonly #table: TableWriter;
  readonly #space: RecordSpace;
  readonly #byText = new Map<string, SharedList>();
  readonly #byBlock = new Map<number, SharedList>();
  readonly #entries = new Set<number>();

  constructor(table: TableWriter) {
    this.#table = table;
    this.publication = table.definePublication();
    this.#space = table.openRecordSpace(this.publication);
  }

  /** The number of addresses with a list. */
  get count(): number {
    return this.#entries.size;
  }

  /**
   * Sets the list of an address, with one store.
   *
   * @param address 4 or 16 octets
   * @param domains in lower case; undefined: not known. The root comes last unless it is among them
   * @returns whether the table has room; without it the list of the address is not known
   */
  set(address: Uint8Array, domains: readonly WireName[] | undefined): boolean {
    const entry = this.#space.find(KIND.SEARCH_LIST, address, ENTRY_OF_ADDRESS.KEY);
    if (domains === undefined) {
      if (entry !== 0) this.#remove(entry);
      return true;
    }
    try {
      this.#show(address, entry, this.#take(domains));
      return true;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      if (entry !== 0) this.#remove(entry);
      return false;
    }
  }

  /** Removes all of it; no view shows it any more. Each step takes a fraction of a millisecond. */
  *drop(): Generator<void, void> {
    let removed = 0;
    for (const entry of this.#entries) {
      this.#remove(entry);
      removed += 1;
      if (removed % ENTRIES_OF_STEP === 0) yield;
    }
    yield* this.#table.dropPublication(this.publication);
  }

  #show(address: Uint8Array, entry: number, list: SharedList): void {
    const space = this.#space;
    try {
      const shown = entry === 0 ? space.add(KIND.SEARCH_LIST, address, ENTRY_OF_ADDRESS.KEY) : entry;
      this.#entries.add(shown);
      const before = this.#findList(shown);
      list.users += 1;
      space.store(shown + ENTRY_OF_ADDRESS.LIST, list.block);
      this.#release(before);
    } catch (error) {
      this.#dropUnused(list);
      throw error;
    }
  }

  #remove(entry: number): void {
    const list = this.#findList(entry);
    this.#entries.delete(entry);
    this.#space.remove(entry);
    this.#release(list);
  }

  #findList(entry: number): SharedList | undefined {
    return this.#byBlock.get(this.#space.views.atoms[(entry + ENTRY_OF_ADDRESS.LIST) >> 2] ?? 0);
  }

  #take(domains: readonly WireName[]): SharedList {
    const text = domains.map((domain) => Buffer.from(domain).toString('latin1')).join();
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const octets = encodeList(domains);
    const list = { text, block: this.#space.take(octets.length), size: octets.length, users: 0 };
    this.#space.views.octets.set(octets, list.block);
    this.#byText.set(text, list);
    this.#byBlock.set(list.block, list);
    return list;
  }

  #release(list: SharedList | undefined): void {
    if (list === undefined) return;
    list.users -= 1;
    this.#dropUnused(list);
  }

  #dropUnused(list: SharedList): void {
    if (list.users > 0) return;
    this.#byText.delete(list.text);
    this.#byBlock.delete(list.block);
    this.#space.retire(list.block, list.size);
  }
}

function encodeList(domains: readonly WireName[]): Uint8Array {
  const root = Uint8Array.of(0);
  const hasRoot = domains.some((domain) => domain.length === root.length);
  const all: readonly Uint8Array[] = hasRoot ? domains : [...domains, root];
  if (all.length > MAX_SEARCHED + 1) throw new RangeError(`too many search domains: ${domains.length}`);
  const size = all.reduce<number>((sum, domain) => sum + 4 + padded(domain.length), SEARCH_LIST.FIRST);
  const octets = new Uint8Array(size);
  const words = new Uint32Array(octets.buffer);
  words[SEARCH_LIST.SIZE >> 2] = size;
  words[SEARCH_LIST.COUNT >> 2] = all.length;
  let at: number = SEARCH_LIST.FIRST;
  for (const domain of all) {
    words[at >> 2] = domain.length | (countLabels(domain) << 8);
    octets.set(domain, at + 4);
    at += 4 + padded(domain.length);
  }
  return octets;
}

/** The reader's side. */
export class SearchListFinder {
  readonly #atoms: Int32Array;
  readonly #keys: Int32Array;
  readonly #key = new Int32Array(IPV6_OCTETS >> 2);
  readonly #keyOctets = new Uint8Array(this.#key.buffer);

  /** @param keys those of the hash */
  constructor({ atoms }: TableViews, keys: Int32Array) {
    if (keys.length !== HASH_KEYS) throw new RangeError(`${keys.length} keys instead of ${HASH_KEYS}`);
    this.#atoms = atoms;
    this.#keys = keys;
  }

  /**
   * @param publication the record of the publication with the lists, as a word
   * @param octets with the socket address of the client from `client` on
   * @returns the octet of its list; 0: not known
   */
  find(publication: number, octets: Uint8Array, client: number): number {
    const length = this.#load(octets, client);
    const atoms = this.#atoms;
    const salt = atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0;
    const shape = encodeShape(length, KIND.SEARCH_LIST, atoms[publication + (PUBLICATION.ID >> 2)] ?? 0);
    const hash = finishHash(this.#hash(length) ^ salt ^ KIND.SEARCH_LIST);
    const index = atoms[HEADER.INDEX] ?? 0;
    const base = (index >>> 5) << (PAGE_SHIFT - 2);
    const mask = (1 << (index & 31)) - 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const place = atoms[base + ((hash + probe) & mask)] ?? EMPTY;
      if (place === EMPTY) return 0;
      if (place === REMOVED) continue;
      const entry = place << UNIT_SHIFT;
      if (atoms[entry >> 2] !== hash || atoms[(entry + ENTRY.SHAPE) >> 2] !== shape) continue;
      if (this.#hasKey(entry, length)) return atoms[(entry + ENTRY_OF_ADDRESS.LIST) >> 2] ?? 0;
    }
    return 0;
  }

  /** @returns the octets of the address */
  #load(octets: Uint8Array, client: number): number {
    const key = this.#keyOctets;
    const isIpv4 = octets[client] === AF_INET;
    const length = isIpv4 ? IPV4_OCTETS : IPV6_OCTETS;
    const from = client + (isIpv4 ? IPV4_AT : IPV6_AT);
    for (let at = 0; at < length; at++) key[at] = octets[from + at] ?? 0;
    const words = this.#key;
    if (isIpv4 || words[0] !== 0 || words[1] !== 0 || words[2] !== MAPPED) return length;
    words[0] = words[3] ?? 0;
    return IPV4_OCTETS;
  }

  #hash(length: number): number {
    let one = 0;
    let other = 0;
    for (let word = 0; word < length >> 2; word++) {
      one = addWord(one, this.#keys, word * KEYS_PER_WORD, this.#key[word] ?? 0);
      other = addWord(other, this.#keys, word * KEYS_PER_WORD + 2, this.#key[word] ?? 0);
    }
    return joinSums(one, other);
  }

  #hasKey(entry: number, length: number): boolean {
    const from = (entry + ENTRY_OF_ADDRESS.KEY) >> 2;
    for (let word = 0; word < length >> 2; word++)
      if (this.#atoms[from + word] !== this.#key[word]) return false;
    return true;
  }
}
