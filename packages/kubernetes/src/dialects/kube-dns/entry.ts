/**
 * The entries that kube-dns keeps in a tree: because of them, several names have the same answer, and `*` works.
 *
 * An entry is a host under a key of its own: `key.path.service` is a name, and so is `path.service`, with the hosts of all its
 * keys. A host is a set of addresses or a name; `additional` holds the additional records for an SRV record to it.
 */
import { type NameKey, type RecordData, TYPE } from '@portolan/dns/types.ts';
import type { Below } from '@portolan/kernel/table/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { NamedSet, RecordSet } from '@portolan/kernel/zone/record-set.ts';
import { ADDRESS_TYPES, addressSets } from '../../names/record-sets.ts';

export interface KubeDnsEntry {
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
  entries: readonly KubeDnsEntry[],
  ttl: number,
  outcome: number,
  below: Below = COMPLETE,
): ZoneNode {
  const target = onlyTarget(entries);
  const sets: RecordSet[] = [];
  // Several targets would make several CNAMEs (RFC 2181 section 10.1): use their addresses instead.
  if (target === undefined) sets.push(...addressSets([...new Set(allAddresses(entries))], ttl));
  const services = serviceSet(entries, ttl);
  if (services !== undefined) sets.push(services);
  const alias = target && ({ target, ttl, types: ADDRESS_TYPES, unanswered: 'nodata' } as const);
  return { name, sets, alias, below, outcome };
}

/** The node of a name that matches many services: it cannot have CNAMEs. */
export function manyEntriesNode(
  name: NameKey,
  entries: readonly KubeDnsEntry[],
  ttl: number,
  outcome: number,
): ZoneNode {
  const addresses = entries.flatMap(({ host }) => (host.kind === 'addresses' ? host.addresses : []));
  const services = serviceSet(entries, ttl);
  const sets = [...addressSets([...new Set(addresses)], ttl), ...(services === undefined ? [] : [services])];
  return { name, sets, alias: undefined, below: COMPLETE, outcome };
}

/** The only target of all entries, or the first of those that are other names; undefined if addresses are known. */
function onlyTarget(entries: readonly KubeDnsEntry[]): NameKey | undefined {
  const [first] = entries;
  const target = first && findTarget(first);
  if (target === undefined) return undefined;
  const isOnly = entries.every((entry) => findTarget(entry) === target);
  return isOnly || entries.every(({ host }) => host.kind === 'name') ? target : undefined;
}

const findTarget = ({ host }: KubeDnsEntry): NameKey | undefined =>
  host.kind === 'addresses' ? undefined : host.target;

function allAddresses(entries: readonly KubeDnsEntry[]): readonly string[] {
  return entries.flatMap(({ host }) => (host.kind === 'name' ? [] : host.addresses));
}

function serviceSet(entries: readonly KubeDnsEntry[], ttl: number): RecordSet | undefined {
  if (entries.length === 0) return undefined;
  const weight = computeWeight(entries);
  const data: RecordData[] = [];
  const ports = new Map<NameKey, Set<number>>();
  const along: NamedSet[] = [];
  for (const { name, host, port } of entries) {
    const target = host.kind === 'addresses' ? name : host.target;
    const known = ports.get(target);
    if (known?.has(port)) continue;
    if (known !== undefined) known.add(port);
    else {
      ports.set(target, new Set([port]));
      if (host.kind !== 'name') along.push(...host.additional);
    }
    data.push({ kind: 'SRV', priority: PRIORITY, weight, port, target });
  }
  const isStubZone = entries.some(({ host }) => host.kind === 'name');
  return { type: TYPE.SRV, ttl, data, additional: isStubZone ? 'elsewhere' : along };
}

/** All entries have the same weight: 100 divided by their number. */
function computeWeight(entries: readonly KubeDnsEntry[]): number {
  return Math.floor(100 / new Set(entries.map(({ name }) => name)).size);
}
