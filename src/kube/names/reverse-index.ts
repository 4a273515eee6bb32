/**
 * The names that each address maps to, for PTR records.
 *
 * An address may belong to several services at once: a pod behind two of them has two names. If it is the address of a
 * service itself, only that one counts, as in CoreDNS.
 *
 * There are as many names as endpoints, and few clients ask for one. So the names of a service are one text, and an
 * address maps only to the services whose texts contain it.
 */
import type { Brand } from '../../base/brand.ts';
import { compareLists } from '../../base/list-difference.ts';
import { inSteps, type Steps } from '../../base/steps.ts';
import {
  addressOfReverseName,
  formatAddress,
  parseAddress,
  readIpv4,
  reverseName,
} from '../../wire/address.ts';
import { type NameKey, TYPE } from '../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../zone/node.ts';
import { recordSet } from '../../zone/record-set.ts';
import { AddressPrefixes } from './address-prefixes.ts';
import { OUTCOME } from './outcomes.ts';

/** A name that an address maps to. */
export interface ReverseName {
  /** Canonical. */
  readonly address: string;
  readonly target: NameKey;
  /** Names of services go before names of endpoints. */
  readonly isService: boolean;
}

/** The owner of names: a service. */
export interface ReverseOwner {
  /** Only this index writes it; at first `NO_NAMES`. */
  reverse: OwnedNames;
}

/** The names of one service, packed; with many endpoints a plain list, so that only the difference is processed. */
export type OwnedNames = PackedNames | readonly ReverseName[];

/** The names of one service: the end that they have in common, then a line for each. */
export type PackedNames = Brand<string, 'PackedNames'>;

export const NO_NAMES = '' as PackedNames; // An empty text.

/** An IPv4 address as a number, which takes no memory of its own; an IPv6 address as text, one character per octet. */
type AddressKey = number | string;

export class ReverseIndex {
  /** Nearly all addresses belong to one service, which is then stored without a list. */
  readonly #owners = new Map<AddressKey, ReverseOwner | readonly ReverseOwner[]>();
  readonly #prefixes = new AddressPrefixes();
  readonly #ttl: number;

  constructor(ttl: number) {
    this.#ttl = ttl;
  }

  /** The number of addresses. */
  get size(): number {
    return this.#owners.size;
  }

  /**
   * Replaces the names of one service, of which there may be thousands.
   *
   * @param end the name of the service, the end of nearly all the names
   * @param changed called with each address whose names changed; not called if the service had no names before
   * @param areKept whether unchanged names are the same values at each call
   * @returns whether these are the service's first names: then `nodesOf` gives the changed addresses
   */
  *replace(
    owner: ReverseOwner,
    end: NameKey,
    names: readonly ReverseName[],
    changed: (address: string) => void,
    areKept = false,
  ): Steps<boolean> {
    const before = owner.reverse;
    const after = areKept ? names : pack(end, names);
    if (before === after) return false;
    owner.reverse = after;
    if (before.length === 0) {
      yield* inSteps(names, ({ address }) => this.#add(address, owner));
      return names.length > 0;
    }
    const { removed, added } = yield* compareNames(before, after);
    const stay = yield* findAddresses(after, removed);
    yield* inSteps(removed, (address) => {
      if (!stay.has(address)) this.#remove(address, owner);
      changed(address);
    });
    yield* inSteps(added, (address) => {
      this.#add(address, owner);
      changed(address);
    });
    return false;
  }

  namesOf(address: string): readonly ReverseName[] {
    return listOf(this.#owners.get(keyOf(address))).flatMap(({ reverse }) => namesIn(reverse, address));
  }

  /** Whether there is an address below this name of the reverse tree. */
  hasBelow(name: NameKey): boolean {
    return this.#prefixes.has(name, this.#addresses());
  }

  /** The node of an address's name in the reverse tree, if the address has names. */
  node(address: string): ZoneNode | undefined {
    const names = this.namesOf(address);
    return names.length === 0 ? undefined : this.#nodeOf(address, names);
  }

  /** The nodes of all addresses that a service has names for. */
  *nodesOf(owner: ReverseOwner): Iterable<ZoneNode> {
    const byAddress = new Map<string, ReverseName[]>();
    for (const name of allNamesIn(owner.reverse)) {
      const others = byAddress.get(name.address);
      if (others === undefined) byAddress.set(name.address, [name]);
      else others.push(name);
    }
    for (const [address, own] of byAddress) {
      const isAlone = this.#owners.get(keyOf(address)) === owner;
      yield this.#nodeOf(address, isAlone ? own : this.namesOf(address));
    }
  }

  #nodeOf(address: string, names: readonly ReverseName[]): ZoneNode {
    const data = targetsOf(names).map((target) => ({ kind: 'PTR', target }) as const);
    return {
      name: reverseName(address),
      sets: [recordSet(TYPE.PTR, this.#ttl, data)],
      alias: undefined,
      below: COMPLETE,
      outcome: OUTCOME.reverse,
    };
  }

  /** The node of a name in the reverse tree. */
  find(name: NameKey): ZoneNode | undefined {
    const address = addressOfReverseName(name);
    return address === undefined ? undefined : this.node(address);
  }

  *#addresses(): Iterable<string> {
    for (const key of this.#owners.keys()) yield textOf(key);
  }

  #add(address: string, owner: ReverseOwner): void {
    const key = keyOf(address);
    const owners = this.#owners.get(key);
    this.#prefixes.add(address);
    if (owners === undefined) this.#owners.set(key, owner);
    else if (!listOf(owners).includes(owner)) this.#owners.set(key, [...listOf(owners), owner]);
  }

  #remove(address: string, owner: ReverseOwner): void {
    const key = keyOf(address);
    const left = listOf(this.#owners.get(key)).filter((other) => other !== owner);
    const [only] = left;
    if (only === undefined) {
      this.#owners.delete(key);
      this.#prefixes.remove(address);
    } else this.#owners.set(key, left.length === 1 ? only : left);
  }
}

/** The targets of the names of one address, in order. */
function targetsOf(names: readonly ReverseName[]): readonly NameKey[] {
  const [only] = names;
  if (names.length === 1 && only !== undefined) return [only.target];
  const services = names.filter(({ isService }) => isService);
  return [...new Set((services.length > 0 ? services : names).map(({ target }) => target))].sort();
}

function listOf(owners: ReverseOwner | readonly ReverseOwner[] | undefined): readonly ReverseOwner[] {
  if (owners === undefined) return [];
  // Arrays have a method `reverse`, so do not test for that field.
  return 'length' in owners ? owners : [owners];
}

/** Before the name in a line: service or endpoint; lower case: without the common end, upper case: the whole name. */
const SERVICE_MARKS = ['s', 'S'] as const;
const ENDPOINT_MARKS = ['e', 'E'] as const;

function pack(end: NameKey, names: readonly ReverseName[]): PackedNames {
  if (names.length === 0) return NO_NAMES;
  const lines: string[] = [end];
  for (const { address, target, isService } of names) {
    const isBelow = target.endsWith(end);
    const labels = isBelow ? target.slice(0, target.length - end.length) : target;
    const [below, whole] = isService ? SERVICE_MARKS : ENDPOINT_MARKS;
    lines.push(`${address} ${isBelow ? below : whole}${labels}`);
  }
  return lines.join('\n') as PackedNames; // Only this function makes packed names.
}

/** The addresses of names that are only in `before` (removed) or only in `after` (added). */
function* compareNames(
  before: OwnedNames,
  after: OwnedNames,
): Steps<{ readonly removed: readonly string[]; readonly added: readonly string[] }> {
  const areLists = typeof before !== 'string' && typeof after !== 'string';
  const different = areLists ? yield* compareLists(before, after) : { removed: before, added: after };
  const left = new Map<string, string>();
  const added: string[] = [];
  yield* inSteps(allNamesIn(different.removed), (name) => left.set(textOfName(name), name.address));
  yield* inSteps(allNamesIn(different.added), (name) => {
    if (!left.delete(textOfName(name))) added.push(name.address);
  });
  return { removed: [...new Set(left.values())], added };
}

const textOfName = ({ address, target, isService }: ReverseName): string =>
  `${address} ${target} ${isService}`;

/** The given addresses that occur in `names`. */
function* findAddresses(names: OwnedNames, addresses: readonly string[]): Steps<ReadonlySet<string>> {
  const wanted = new Set(addresses);
  const found = new Set<string>();
  if (wanted.size === 0) return found;
  yield* inSteps(allNamesIn(names), ({ address }) => {
    if (wanted.has(address)) found.add(address);
  });
  return found;
}

function hasAddress(packed: PackedNames, address: string): boolean {
  return packed.includes(`\n${address} `);
}

function namesIn(names: OwnedNames, address: string): readonly ReverseName[] {
  if (typeof names === 'string' && !hasAddress(names, address)) return [];
  return allNamesIn(names).filter((name) => name.address === address);
}

function allNamesIn(names: OwnedNames): readonly ReverseName[] {
  if (typeof names !== 'string') return names;
  const [end = '', ...lines] = names.split('\n');
  return lines.map((line) => {
    const address = line.slice(0, line.indexOf(' '));
    const mark = line.charAt(address.length + 1);
    const labels = line.slice(address.length + 2);
    const isBelow = mark === SERVICE_MARKS[0] || mark === ENDPOINT_MARKS[0];
    // `pack` wrote it from names.
    const target = (isBelow ? labels + end : labels) as NameKey;
    return { address, target, isService: mark === SERVICE_MARKS[0] || mark === SERVICE_MARKS[1] };
  });
}

function keyOf(address: string): AddressKey {
  const ipv4 = readIpv4(address);
  return ipv4 >= 0 ? ipv4 | 0 : Buffer.from(parseAddress(address) ?? []).toString('latin1');
}

function textOf(key: AddressKey): string {
  if (typeof key === 'string') return formatAddress(Buffer.from(key, 'latin1'));
  return `${key >>> 24}.${(key >>> 16) & 255}.${(key >>> 8) & 255}.${key & 255}`;
}
