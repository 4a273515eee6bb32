/**
 * Composes the answers to the names of hosts files and to the names of their addresses: the reader's side.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { COMPOSED, type Sought } from '../table/composer.ts';
import { addWord, finishHash, joinSums, KEYS_PER_WORD } from '../table/hash.ts';
import type { TableViews } from '../table/memory.ts';
import type { ComposerContext } from './composer-context.ts';
import {
  ADDRESS,
  ADDRESS_FLAG,
  APART,
  HASH_MASK,
  LEADS_SHIFT,
  LIST,
  LIST_FLAG,
  MAX_ADDRESSES,
  NAME_MASK,
  ORIGIN_SHIFT,
  PAIR,
  PLACE_MASK,
} from './hosts/layout.ts';
import type { AddressKey } from './reverse-composer.ts';

/** The first four octets of the label `arpa`. */
const ARPA = Buffer.from('\x04arp', 'latin1').readInt32LE();
/** Labels of the name of an IPv4 address: the shortest name of an address. */
const MIN_REVERSE_LABELS = 6;

export class HostComposer {
  readonly #atoms: Int32Array;
  readonly #octets: Uint8Array;
  readonly #keys: Int32Array;
  readonly #context: ComposerContext;
  readonly #address: AddressKey;
  /** The current list, as a word, and the salt of its publication. */
  #list = 0;
  #salt = 0;
  /** The addresses of the name that are answered. */
  readonly #found = new Int32Array(MAX_ADDRESSES);

  /** @param keys those of the hash */
  constructor(views: TableViews, keys: Int32Array, context: ComposerContext, address: AddressKey) {
    this.#atoms = views.atoms;
    this.#octets = views.octets;
    this.#keys = keys;
    this.#context = context;
    this.#address = address;
  }

  get zone(): number {
    return this.#atoms[this.#list + LIST.ZONE] ?? 0;
  }

  get outcome(): number {
    return this.#atoms[this.#list + LIST.OUTCOME] ?? 0;
  }

  /** Parameters as of `Composer.compose`. @param list its octet */
  compose(
    list: number,
    salt: number,
    sought: Sought,
    origin: number,
    limit: number,
    rotates: boolean,
  ): number {
    this.#list = list >> 2;
    this.#salt = salt;
    const context = this.#context;
    context.rotates = rotates;
    const pair = this.#findName(sought);
    if (pair !== 0 && ((this.#atoms[pair + PAIR.SHAPE] ?? 0) & APART) !== 0) return COMPOSED.NEXT;
    const isOfAddresses = sought.type === TYPE.A || sought.type === TYPE.AAAA;
    if (pair !== 0 && isOfAddresses) return this.#composeAddresses(pair, sought.type, origin, limit);
    const address = this.#findAddress(sought);
    if (address === 0) return pair === 0 ? COMPOSED.NEXT : COMPOSED.ASK;
    const leads = this.#atoms[address + ADDRESS.LEADS] ?? 0;
    if ((leads & ADDRESS_FLAG.APART) !== 0) return COMPOSED.NEXT;
    if (sought.type !== TYPE.PTR) return COMPOSED.ASK;
    return this.#composePointers(leads >>> LEADS_SHIFT, origin, limit);
  }

  #composeAddresses(pair: number, type: number, origin: number, limit: number): number {
    const atoms = this.#atoms;
    const family = type === TYPE.A ? 0 : ADDRESS_FLAG.IPV6;
    const last = atoms[pair + PAIR.NEXT_OF_NAME] ?? 0;
    let count = this.#take(pair, family, 0);
    let ttl = count === 0 ? Number.MAX_SAFE_INTEGER : this.#readTtl(pair);
    if (last !== 0) {
      let at = last;
      do {
        at = atoms[at + PAIR.NEXT_OF_NAME] ?? 0;
        const taken = this.#take(at, family, count);
        // If TTLs differ, the lowest counts (RFC 2181 section 5.2).
        if (taken > count) ttl = Math.min(ttl, this.#readTtl(at));
        count = taken;
      } while (at !== last && count < MAX_ADDRESSES);
    }
    const { composition } = this.#context;
    composition.begin(origin, limit, count === 0 ? 0 : ttl);
    if (count === 0) {
      const answersBoth = ((atoms[this.#list + LIST.FLAGS] ?? 0) & LIST_FLAG.ANSWERS_BOTH) !== 0;
      return answersBoth ? COMPOSED.HELD : COMPOSED.ASK;
    }
    const first = this.#context.pick(count);
    for (let index = 0; index < count; index++) {
      const number = first + index;
      const address = this.#found[number < count ? number : number - count] ?? 0;
      const at = (address + ADDRESS.OCTETS) << 2;
      if (family === 0) composition.addAddress(this.#ipv4At(at));
      else composition.addLongAddress(this.#octets, at);
    }
    return COMPOSED.HELD;
  }

  /** Notes the address of a pair if it is of the family. @returns how many are noted */
  #take(pair: number, family: number, count: number): number {
    const atoms = this.#atoms;
    const address = atoms[pair + PAIR.ADDRESS] ?? 0;
    if (((atoms[address + ADDRESS.LEADS] ?? 0) & ADDRESS_FLAG.IPV6) !== family) return count;
    this.#found[count] = address;
    return count + 1;
  }

  /** @param last the last pair that the address leads to */
  #composePointers(last: number, origin: number, limit: number): number {
    const atoms = this.#atoms;
    const { composition } = this.#context;
    let pair = atoms[last + PAIR.NEXT_OF_ADDRESS] ?? 0;
    composition.begin(origin, limit, this.#readTtl(pair));
    for (;;) {
      const shape = atoms[pair + PAIR.SHAPE] ?? 0;
      const named = (shape & NAME_MASK) === 0 ? (atoms[pair + PAIR.KEY] ?? 0) : pair;
      const length = (atoms[named + PAIR.SHAPE] ?? 0) & NAME_MASK;
      if (composition.addPointer(length)) composition.append(this.#octets, (named + PAIR.KEY) << 2, length);
      if (pair === last || composition.isCut) return COMPOSED.HELD;
      pair = atoms[pair + PAIR.NEXT_OF_ADDRESS] ?? 0;
    }
  }

  #readTtl(pair: number): number {
    const atoms = this.#atoms;
    return atoms[this.#list + LIST.TTLS + ((atoms[pair + PAIR.SHAPE] ?? 0) >>> ORIGIN_SHIFT)] ?? 0;
  }

  #ipv4At(at: number): number {
    const octets = this.#octets;
    return (
      ((octets[at] ?? 0) << 24) |
      ((octets[at + 1] ?? 0) << 16) |
      ((octets[at + 2] ?? 0) << 8) |
      (octets[at + 3] ?? 0)
    );
  }

  /** The first pair of the name, 0 if there is none. */
  #findName(sought: Sought): number {
    const atoms = this.#atoms;
    const base = atoms[this.#list + LIST.NAMES] ?? 0;
    const mask = (1 << (atoms[this.#list + LIST.NAME_SHIFT] ?? 0)) - 1;
    const hash = finishHash(sought.hash ^ this.#salt);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const word = atoms[base + slot] ?? 0;
      if (word === 0) return 0;
      if (((word ^ hash) & HASH_MASK) !== 0) continue;
      if (this.#isNamed(word & PLACE_MASK, sought)) return word & PLACE_MASK;
    }
  }

  #isNamed(pair: number, sought: Sought): boolean {
    const atoms = this.#atoms;
    const length = (atoms[pair + PAIR.SHAPE] ?? 0) & NAME_MASK;
    if (length !== sought.nameLength) return false;
    // Both are zero behind their ends.
    for (let at = 0, word = pair + PAIR.KEY; at < length; at += 4, word++)
      if (atoms[word] !== sought.wordAt(at)) return false;
    return true;
  }

  /** The entry of the address that the name stands for, if it leads to a name; else 0. */
  #findAddress(sought: Sought): number {
    const atoms = this.#atoms;
    const { labels, labelStarts } = sought;
    if (labels < MIN_REVERSE_LABELS || sought.wordAt(labelStarts[labels - 1] ?? 0) !== ARPA) return 0;
    if (((atoms[this.#list + LIST.FLAGS] ?? 0) & LIST_FLAG.HAS_REVERSE) === 0) return 0;
    const key = this.#address;
    if (!key.read(sought)) return 0;
    const base = atoms[this.#list + LIST.ADDRESSES] ?? 0;
    const mask = (1 << (atoms[this.#list + LIST.ADDRESS_SHIFT] ?? 0)) - 1;
    const hash = this.#hashOfAddress();
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const word = atoms[base + slot] ?? 0;
      if (word === 0) return 0;
      if (((word ^ hash) & HASH_MASK) !== 0 || !this.#isAddress(word & PLACE_MASK)) continue;
      return (atoms[(word & PLACE_MASK) + ADDRESS.LEADS] ?? 0) >>> LEADS_SHIFT === 0 ? 0 : word & PLACE_MASK;
    }
  }

  #isAddress(entry: number): boolean {
    const atoms = this.#atoms;
    const key = this.#address;
    const isIpv6 = ((atoms[entry + ADDRESS.LEADS] ?? 0) & ADDRESS_FLAG.IPV6) !== 0;
    if (isIpv6 !== (key.length === 16)) return false;
    for (let at = 0, word = entry + ADDRESS.OCTETS; at < key.length; at += 4, word++)
      if (atoms[word] !== key.wordAt(at)) return false;
    return true;
  }

  #hashOfAddress(): number {
    const key = this.#address;
    let one = 0;
    let other = 0;
    for (let at = 0, index = 0; at < key.length; at += 4, index += KEYS_PER_WORD) {
      one = addWord(one, this.#keys, index, key.wordAt(at));
      other = addWord(other, this.#keys, index + 2, key.wordAt(at));
    }
    return finishHash(joinSums(one, other) ^ this.#salt);
  }
}
