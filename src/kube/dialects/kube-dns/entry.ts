/**
 * The entries that kube-dns keeps in a tree: because of them, several names have the same answer, and `*` works.
 *
 * An entry is a host under a key of its own: `key.path.service` is a name, and so is `path.service`, with the hosts of all its
 * keys. A host is a set of addresses or a name; `additional` holds the additional records for an SRV record to it.
 */
import { completeSteps, inSteps, type Steps } from '../../../base/steps.ts';
import type { Below } from '../../../table/types.ts';
import { type NameKey, type RecordData, TYPE } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { NamedSet, RecordSet } from '../../../zone/record-set.ts';
import { ADDRESS_TYPES, addressSets, distinctAddressSets } from '../../names/record-sets.ts';

export interface Entry {
  /** The name of the entry itself. */
  readonly name: NameKey;
  readonly host: Host;
  /** 0 if the host is not for a specific port. */
  readonly port: number;
}

export type Host =
  | {
      readonly kind: 'addresses';
      readonly addresses: readonly string[];
      readonly additional: readonly NamedSet[];
    }
  /** A name of the same service, whose addresses are known. */
  | {
      readonly kind: 'own';
      readonly target: NameKey;
      readonly addresses: readonly string[];
      readonly additional: readonly NamedSet[];
    }
  /** Any other name. */
  | { readonly kind: 'name'; readonly target: NameKey };

const PRIORITY = 10;

/** The node of a name with these entries. */
export function entriesNode(
  name: NameKey,
  entries: readonly Entry[],
  ttl: number,
  outcome: number,
  below: Below = COMPLETE,
): ZoneNode {
  return completeSteps(entriesNodeInSteps(name, entries, ttl, outcome, below));
}

/** As `entriesNode`, for thousands of entries. */
export function* entriesNodeInSteps(
  name: NameKey,
  entries: readonly Entry[],
  ttl: number,
  outcome: number,
  below: Below = COMPLETE,
  addressesOf: AddressSets = writeAddressSets,
): Steps<ZoneNode> {
  const target = onlyTarget(entries);
  const sets: RecordSet[] = [];
  // Several targets would make several CNAMEs (RFC 2181 section 10.1): use their addresses instead.
  if (target === undefined) sets.push(...(yield* addressesOf(entries, ttl)));
  const services = yield* serviceSet(entries, ttl);
  if (services !== undefined) sets.push(services);
  const alias = target && ({ target, ttl, types: ADDRESS_TYPES, unanswered: 'nodata' } as const);
  return { name, sets, alias, below, outcome };
}

/** The address sets of entries. */
export type AddressSets = (entries: readonly Entry[], ttl: number) => Steps<readonly RecordSet[]>;

function* writeAddressSets(entries: readonly Entry[], ttl: number): Steps<readonly RecordSet[]> {
  return yield* distinctAddressSets(yield* allAddresses(entries), ttl);
}

/** Shares address sets between lists of entries with the same addresses, for instance of a port and of all ports. */
export function shareAddressSets(): AddressSets {
  let before: { readonly entries: readonly Entry[]; readonly sets: readonly RecordSet[] } | undefined;
  return function* share(entries, ttl) {
    if (before !== undefined && (yield* haveSameAddresses(before.entries, entries))) return before.sets;
    before = { entries, sets: yield* writeAddressSets(entries, ttl) };
    return before.sets;
  };
}

function* haveSameAddresses(entries: readonly Entry[], others: readonly Entry[]): Steps<boolean> {
  if (entries.length !== others.length) return false;
  let areSame = true;
  let index = 0;
  yield* inSteps(entries, ({ host }) => {
    const other = others[index]?.host;
    index += 1;
    if (host.kind === 'name' || other?.kind === 'name' || host.addresses !== other?.addresses)
      areSame = false;
  });
  return areSame;
}

/** The node of a name that matches many services: it cannot have CNAMEs. */
export function manyEntriesNode(
  name: NameKey,
  entries: readonly Entry[],
  ttl: number,
  outcome: number,
): ZoneNode {
  const addresses = entries.flatMap(({ host }) => (host.kind === 'addresses' ? host.addresses : []));
  const services = completeSteps(serviceSet(entries, ttl));
  const sets = [...addressSets([...new Set(addresses)], ttl), ...(services === undefined ? [] : [services])];
  return { name, sets, alias: undefined, below: COMPLETE, outcome };
}

/** The only target of all entries; undefined if they differ. */
function onlyTarget(entries: readonly Entry[]): NameKey | undefined {
  const [first] = entries;
  const target = first && targetOf(first);
  if (target === undefined) return undefined;
  return entries.every((entry) => targetOf(entry) === target) ? target : undefined;
}

const targetOf = ({ host }: Entry): NameKey | undefined =>
  host.kind === 'addresses' ? undefined : host.target;

function* allAddresses(entries: readonly Entry[]): Steps<readonly { readonly address: string }[]> {
  const addresses: { readonly address: string }[] = [];
  yield* inSteps(entries, ({ host }) => {
    if (host.kind !== 'name') for (const address of host.addresses) addresses.push({ address });
  });
  return addresses;
}

function* serviceSet(entries: readonly Entry[], ttl: number): Steps<RecordSet | undefined> {
  if (entries.length === 0) return undefined;
  const weight = yield* weightOf(entries);
  const data: RecordData[] = [];
  const ports = new Map<NameKey, number | readonly number[]>();
  const along: NamedSet[] = [];
  let isStubZone = false;
  yield* inSteps(entries, ({ name, host, port }) => {
    const target = host.kind === 'addresses' ? name : host.target;
    const known = ports.get(target);
    if (host.kind === 'name') isStubZone = true;
    else if (known === undefined) for (const set of host.additional) along.push(set);
    const all = typeof known === 'number' ? [known] : (known ?? []);
    if (all.includes(port)) return;
    // Nearly all targets have one port.
    ports.set(target, known === undefined ? port : [...all, port]);
    data.push({ kind: 'SRV', priority: PRIORITY, weight, port, target });
  });
  if (isStubZone) return { type: TYPE.SRV, ttl, data, additional: 'elsewhere' };
  return { type: TYPE.SRV, ttl, data, additional: along };
}

/** All entries have the same weight: 100 divided by their number. */
function* weightOf(entries: readonly Entry[]): Steps<number> {
  const names = new Set<NameKey>();
  yield* inSteps(entries, ({ name }) => names.add(name));
  return Math.floor(100 / names.size);
}
