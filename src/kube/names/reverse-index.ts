/**
 * Which names each address leads back to, for PTR records.
 *
 * An address may belong to several services at once: a pod behind two of them has two names. If it is the address of a
 * service itself, only that one counts, as in CoreDNS.
 */
import { addressOfReverseName, reverseName } from '../../wire/address.ts';
import { type NameKey, TYPE } from '../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../zone/node.ts';
import { recordSet } from '../../zone/record-set.ts';
import { AddressPrefixes } from './address-prefixes.ts';
import { OUTCOME } from './outcomes.ts';

/** A name that an address leads back to. */
export interface ReverseName {
  /** Canonical. */
  readonly address: string;
  readonly target: NameKey;
  /** Names of services go before names of endpoints. */
  readonly isService: boolean;
}

export class ReverseIndex {
  /** Nearly all addresses have one name, which then stands without a list around it. */
  readonly #names = new Map<string, ReverseName | readonly ReverseName[]>();
  readonly #prefixes = new AddressPrefixes();
  readonly #ttl: number;

  constructor(ttl: number) {
    this.#ttl = ttl;
  }

  /** The number of addresses. */
  get size(): number {
    return this.#names.size;
  }

  /**
   * Replaces the names of one service.
   *
   * @param before what the last call returned
   * @param changed is given the addresses whose names are others now
   * @returns what is held now
   */
  replace(
    before: readonly ReverseName[],
    after: readonly ReverseName[],
    changed: (address: string) => void,
  ): readonly ReverseName[] {
    if (before.length === after.length && before.every((name, index) => isSame(name, after[index])))
      return before;
    // Of a service with many endpoints nearly all names are the same values as before.
    const left = new Set(before);
    const added: ReverseName[] = [];
    for (const name of after) if (!left.delete(name)) added.push(name);
    for (const name of left) {
      this.#remove(name);
      changed(name.address);
    }
    for (const name of added) {
      this.#add(name);
      changed(name.address);
    }
    // A list that was put together from others has room for many more, and there are as many lists as services.
    return after.slice();
  }

  namesOf(address: string): readonly ReverseName[] {
    const names = this.#names.get(address);
    if (names === undefined) return [];
    return 'address' in names ? [names] : names;
  }

  /** Whether there is an address below this name of the reverse tree. */
  hasBelow(name: NameKey): boolean {
    return this.#prefixes.has(name, this.#names.keys());
  }

  /** The node of an address's name in the reverse tree, if the address has names. */
  node(address: string): ZoneNode | undefined {
    const names = this.namesOf(address);
    if (names.length === 0) return undefined;
    const services = names.filter(({ isService }) => isService);
    const targets = new Set((services.length > 0 ? services : names).map(({ target }) => target));
    const data = [...targets].sort().map((target) => ({ kind: 'PTR', target }) as const);
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

  #add(name: ReverseName): void {
    const names = this.#names.get(name.address);
    this.#prefixes.add(name.address);
    if (names === undefined) this.#names.set(name.address, name);
    else this.#names.set(name.address, [...('address' in names ? [names] : names), name]);
  }

  #remove(name: ReverseName): void {
    const left = this.namesOf(name.address).filter((other) => other !== name);
    const [only] = left;
    if (only === undefined) {
      this.#names.delete(name.address);
      this.#prefixes.remove(name.address);
    } else this.#names.set(name.address, left.length === 1 ? only : left);
  }
}

function isSame(one: ReverseName, other: ReverseName | undefined): boolean {
  return one.address === other?.address && one.target === other.target && one.isService === other.isService;
}
