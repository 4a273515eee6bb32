/**
 * The names that each address maps to, for the handler chain.
 *
 * An address may belong to several services at once: a pod behind two of them has two names. If it is the address of a
 * service itself, only that one counts, as in CoreDNS.
 */
import { addressOfReverseName, formatAddress, parseAddress, reverseName } from '@portolan/dns/address.ts';
import { type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { MAX_OWNERS } from '@portolan/kernel/records/reverse-composer.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { recordSet } from '@portolan/kernel/zone/record-set.ts';
import { AddressPrefixes, isReversePrefix } from '../names/address-prefixes.ts';
import { OUTCOME } from '../names/outcomes.ts';
import type { ReverseName } from '../names/reverse-name.ts';
import { formatValue, RecordViews } from '../records/record-views.ts';
import type { DerivedServices } from './derived-services.ts';
import type { HasModelOptions } from './model-options.ts';

/** Whether the client sees a service. */
export type IsVisible = (namespace: string, service: string) => boolean;

export class ReverseNames {
  readonly #writer: RecordWriter;
  readonly #views: RecordViews;
  readonly #services: DerivedServices;
  readonly #prefixes = new AddressPrefixes();
  readonly #model: HasModelOptions;

  constructor(writer: RecordWriter, services: DerivedServices, model: HasModelOptions) {
    this.#writer = writer;
    this.#views = new RecordViews(writer);
    this.#services = services;
    this.#model = model;
    writer.claims.added = (address) => {
      if (this.#prefixes.isBuilt) this.#prefixes.add(formatAddress(address));
    };
    writer.claims.removed = (address) => {
      if (this.#prefixes.isBuilt) this.#prefixes.remove(formatAddress(address));
    };
  }

  /** @param isVisible default: all services are */
  findNames(address: string, isVisible?: IsVisible): readonly ReverseName[] {
    return this.#listOwners(address, isVisible).flatMap(
      (entry) => this.#services.find(entry)?.reverse.filter((name) => name.address === address) ?? [],
    );
  }

  /** The entries of at most `MAX_OWNERS` services. */
  #listOwners(address: string, isVisible: IsVisible | undefined): readonly number[] {
    const octets = parseAddress(address);
    if (octets === undefined) return [];
    const { claims } = this.#writer;
    if (isVisible === undefined) return claims.listOwners(octets, MAX_OWNERS);
    const visible: number[] = [];
    for (const entry of claims.listOwners(octets, Number.POSITIVE_INFINITY)) {
      const { namespace, name } = this.#views.readNamespacedName(entry);
      if (isVisible(namespace, name) && visible.push(entry) === MAX_OWNERS) break;
    }
    return visible;
  }

  /** Whether there is an address below this name of the reverse tree. */
  hasBelow(name: NameKey): boolean {
    return this.#prefixes.has(name, this.#addresses());
  }

  /**
   * As `hasBelow` for a client that sees some of the services. Any name above addresses may have some below it: whether it has must not
   * show where those of others are.
   */
  mayHaveBelow(name: NameKey, isVisible: IsVisible): boolean {
    const address = addressOfReverseName(name);
    return address === undefined ? isReversePrefix(name) : this.#listOwners(address, isVisible).length > 0;
  }

  /** The node of a name in the reverse tree, if its address has names. @param isVisible default: all services are */
  find(name: NameKey, isVisible?: IsVisible): ZoneNode | undefined {
    const address = addressOfReverseName(name);
    const names = address === undefined ? [] : this.findNames(address, isVisible);
    if (address === undefined || names.length === 0) return undefined;
    const data = listTargets(names).map((target) => ({ kind: 'PTR', target }) as const);
    return {
      name: reverseName(address),
      sets: [recordSet(TYPE.PTR, this.#model.options.ttl, data)],
      alias: undefined,
      below: COMPLETE,
      outcome: OUTCOME.reverse,
    };
  }

  *#addresses(): Iterable<string> {
    for (const address of new Set(this.#writer.addresses())) yield formatValue(address);
  }
}

/** The targets of the names of one address; those of services that select pods come first. */
function listTargets(names: readonly ReverseName[]): readonly NameKey[] {
  const services = names.filter(({ isService }) => isService);
  return [...new Set((services.length > 0 ? services : names).map(({ target }) => target))];
}
