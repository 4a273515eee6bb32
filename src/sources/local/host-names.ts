/**
 * Names and their addresses, as hosts files have them: many names for an address, several addresses for a name, and for each
 * address the first of its names.
 *
 * Lists of blocked names are long and have one address: names with the same addresses share them, so that a hundred
 * thousand names cost little more than their letters.
 */
import { reverseName } from '../../wire/address.ts';
import { type NameKey, type RecordData, TYPE } from '../../wire/types.ts';
import { type RecordSet, recordSet } from '../../zone/record-set.ts';

/** The addresses of a name. Equal ones are the same object within one `HostNames`. */
export interface HostAddresses {
  /** Equal for equal addresses, in any `HostNames`. */
  readonly key: string;
  readonly addresses: readonly string[];
  /** Seconds. */
  readonly ttl: number;
  /** A and AAAA, those that there are. */
  readonly sets: readonly RecordSet[];
}

export interface HostPointer {
  readonly target: NameKey;
  /** Seconds. */
  readonly ttl: number;
}

export class HostNames {
  readonly #names = new Map<NameKey, HostAddresses>();
  readonly #shared = new Map<string, HostAddresses>();
  readonly #addresses = new Set<string>();
  /** By the name in the reverse tree. */
  readonly #pointers = new Map<NameKey, HostPointer>();
  readonly #rotates: boolean;

  /** @param rotates whether several addresses are told in any order */
  constructor(rotates: boolean) {
    this.#rotates = rotates;
  }

  /** @param ttl seconds; where those of one name differ, the least counts (RFC 2181 section 5.2) */
  add(name: NameKey, address: string, ttl: number): void {
    const before = this.#names.get(name);
    if (before === undefined) this.#names.set(name, this.#share([address], ttl));
    else if (!before.addresses.includes(address))
      this.#names.set(name, this.#share([...before.addresses, address], Math.min(ttl, before.ttl)));
    if (this.#addresses.has(address)) return;
    this.#addresses.add(address);
    this.#pointers.set(reverseName(address), { target: name, ttl });
  }

  get(name: NameKey): HostAddresses | undefined {
    return this.#names.get(name);
  }

  /** The name that an address of the reverse tree belongs to. */
  pointer(name: NameKey): HostPointer | undefined {
    return this.#pointers.get(name);
  }

  names(): IterableIterator<NameKey> {
    return this.#names.keys();
  }

  reverseNames(): IterableIterator<NameKey> {
    return this.#pointers.keys();
  }

  get size(): number {
    return this.#names.size;
  }

  #share(addresses: readonly string[], ttl: number): HostAddresses {
    const key = `${ttl} ${addresses.join()}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const made = { key, addresses, ttl, sets: this.#setsOf(addresses, ttl) };
    this.#shared.set(key, made);
    return made;
  }

  #setsOf(addresses: readonly string[], ttl: number): readonly RecordSet[] {
    const isIpv6 = (address: string) => address.includes(':');
    const ipv4 = addresses.filter((address) => !isIpv6(address));
    const ipv6 = addresses.filter(isIpv6);
    const data = (kind: 'A' | 'AAAA', list: readonly string[]): readonly RecordData[] =>
      list.map((address) => ({ kind, address }));
    return [recordSet(TYPE.A, ttl, data('A', ipv4)), recordSet(TYPE.AAAA, ttl, data('AAAA', ipv6))]
      .filter((set) => set.data.length > 0)
      .map((set) => (this.#rotates ? set : { ...set, keepsOrder: true }));
  }
}
