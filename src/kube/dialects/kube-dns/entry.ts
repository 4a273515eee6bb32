/**
 * The entries that kube-dns keeps in a tree: what makes it answer several names alike, and questions with `*` at all.
 *
 * An entry is a host under a key of its own: `key.path.service` is a name, and so is `path.service`, with all its keys'
 * hosts together. A host is a set of addresses or a name.
 */
import type { Below } from '../../../table/types.ts';
import { type NameKey, type RecordData, TYPE } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import type { NamedSet, RecordSet } from '../../../zone/record-set.ts';
import { ADDRESS_TYPES, addressSets, namedSets } from '../../names/record-sets.ts';

export interface Entry {
  /** The name of the entry itself. */
  readonly name: NameKey;
  readonly host: Host;
  /** 0 where the host stands for no port in particular. */
  readonly port: number;
}

export type Host =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  /** A name of the same service, whose addresses are known. */
  | { readonly kind: 'own'; readonly target: NameKey; readonly addresses: readonly string[] }
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
  const target = onlyTarget(entries);
  const sets: RecordSet[] = [];
  if (target === undefined) sets.push(...addressSets(allAddresses(entries), ttl));
  const services = serviceSet(entries, ttl);
  if (services !== undefined) sets.push(services);
  const alias = target && ({ target, ttl, types: ADDRESS_TYPES, unanswered: 'nodata' } as const);
  return { name, sets, alias, below, outcome };
}

/** The node of a name that stands for many services at once: there CNAMEs have no place. */
export function manyEntriesNode(
  name: NameKey,
  entries: readonly Entry[],
  ttl: number,
  outcome: number,
): ZoneNode {
  const addresses = entries.flatMap(({ host }) => (host.kind === 'addresses' ? host.addresses : []));
  const services = serviceSet(entries, ttl);
  const sets = [...addressSets([...new Set(addresses)], ttl), ...(services === undefined ? [] : [services])];
  return { name, sets, alias: undefined, below: COMPLETE, outcome };
}

/** The one name that all entries lead to, if they do. */
function onlyTarget(entries: readonly Entry[]): NameKey | undefined {
  const targets = new Set(entries.map(({ host }) => (host.kind === 'addresses' ? undefined : host.target)));
  return targets.size === 1 ? [...targets][0] : undefined;
}

/** Entries that lead to several names would make several CNAMEs (RFC 2181 section 10.1): their addresses stand for them. */
function allAddresses(entries: readonly Entry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ host }) => (host.kind === 'name' ? [] : host.addresses)))];
}

function serviceSet(entries: readonly Entry[], ttl: number): RecordSet | undefined {
  if (entries.length === 0) return undefined;
  const weight = Math.floor(100 / new Set(entries.map(({ name }) => name)).size);
  const data = new Map<string, RecordData>();
  const additional = new Map<NameKey, readonly NamedSet[]>();
  let isStubZone = false;
  for (const { name, host, port } of entries) {
    const target = host.kind === 'addresses' ? name : host.target;
    data.set(`${port} ${target}`, { kind: 'SRV', priority: PRIORITY, weight, port, target });
    if (host.kind === 'name') isStubZone = true;
    else additional.set(target, namedSets(target, addressSets(host.addresses, ttl)));
  }
  const along = isStubZone ? 'elsewhere' : [...additional.values()].flat();
  return { type: TYPE.SRV, ttl, data: [...data.values()], additional: along };
}
