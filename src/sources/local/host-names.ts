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

export interface HostAddress {
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
  /** The hosts file that says so; undefined: an option does. */
  readonly file: string | undefined;
}

/** The addresses of a name. Equal ones are the same object within one `HostNames`. */
export interface HostAddresses {
  /** Equal for equal addresses, in any `HostNames`. */
  readonly key: string;
  readonly addresses: readonly HostAddress[];
  /** A and AAAA, those that there are. */
  readonly sets: readonly RecordSet[];
}

export interface HostPointer {
  readonly target: NameKey;
  /** Seconds. */
  readonly ttl: number;
  readonly file: string | undefined;
}

export class HostNames {
  readonly #names = new Map<NameKey, HostAddresses>();
  readonly #shared = new Map<string, HostAddresses>();
  readonly #addresses = new Set<string>();
  /** By the name in the reverse tree. */
  readonly #pointers = new Map<NameKey, HostPointer>();
  #last: HostAddresses | undefined;

  /** @param ttl seconds; where those of a set differ, the least counts (RFC 2181 section 5.2) */
  add(name: NameKey, address: string, ttl: number, file?: string): void {
    const before = this.#names.get(name);
    if (before === undefined) this.#names.set(name, this.#shareOne({ address, ttl, file }));
    else if (!before.addresses.some((known) => known.address === address))
      this.#names.set(name, this.#share([...before.addresses, { address, ttl, file }]));
    if (this.#addresses.has(address)) return;
    this.#addresses.add(address);
    this.#pointers.set(reverseName(address), { target: name, ttl, file });
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

  /** Of many names in a row with one address. */
  #shareOne(only: HostAddress): HostAddresses {
    const [last] = this.#last?.addresses ?? [];
    const isSame = last?.address === only.address && last.ttl === only.ttl && last.file === only.file;
    if (this.#last === undefined || !isSame) this.#last = this.#share([only]);
    return this.#last;
  }

  #share(addresses: readonly HostAddress[]): HostAddresses {
    const key = addresses.map(({ address, ttl, file = '' }) => `${address} ${ttl} ${file}`).join();
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const ipv4 = addresses.filter(({ address }) => !isIpv6(address));
    const ipv6 = addresses.filter(({ address }) => isIpv6(address));
    const sets = [...this.#setOf('A', ipv4), ...this.#setOf('AAAA', ipv6)];
    const made = { key, addresses, sets };
    this.#shared.set(key, made);
    return made;
  }

  #setOf(kind: 'A' | 'AAAA', addresses: readonly HostAddress[]): readonly RecordSet[] {
    if (addresses.length === 0) return [];
    const data = addresses.map(({ address }): RecordData => ({ kind, address }));
    return [recordSet(TYPE[kind], Math.min(...addresses.map(({ ttl }) => ttl)), data)];
  }
}

const isIpv6 = (address: string): boolean => address.includes(':');
