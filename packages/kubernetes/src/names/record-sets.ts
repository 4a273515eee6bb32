/**
 * The record sets of names of a cluster.
 */
import { type AbsoluteName, type NameKey, type RecordData, TYPE } from '@portolan/dns/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { type NamedSet, type RecordSet, recordSet } from '@portolan/kernel/zone/record-set.ts';
import { isIpv6 } from './endpoints.ts';
import { nameBelow } from './labels.ts';
import { protocolLabels } from './ports.ts';

/** The A and AAAA sets of these canonical addresses, without empty sets. */
export function addressSets(addresses: readonly string[], ttl: number): readonly RecordSet[] {
  const [only] = addresses;
  // Nearly all names have a single address: avoid a growing array, which reserves extra memory.
  if (addresses.length === 1 && only !== undefined) return [setOfAddress(only, ttl)];
  const ipv4: RecordData[] = [];
  const ipv6: RecordData[] = [];
  for (const address of addresses) {
    if (isIpv6(address)) ipv6.push({ kind: 'AAAA', address });
    else ipv4.push({ kind: 'A', address });
  }
  return presentSets(ipv4, ipv6, ttl);
}

function setOfAddress(address: string, ttl: number): RecordSet {
  return isIpv6(address)
    ? recordSet(TYPE.AAAA, ttl, [{ kind: 'AAAA', address }])
    : recordSet(TYPE.A, ttl, [{ kind: 'A', address }]);
}

function presentSets(
  ipv4: readonly RecordData[],
  ipv6: readonly RecordData[],
  ttl: number,
): readonly RecordSet[] {
  const sets: RecordSet[] = [];
  if (ipv4.length > 0) sets.push(recordSet(TYPE.A, ttl, ipv4));
  if (ipv6.length > 0) sets.push(recordSet(TYPE.AAAA, ttl, ipv6));
  return sets;
}

export function namedSets(name: AbsoluteName, sets: readonly RecordSet[]): readonly NamedSet[] {
  return sets.map((set) => ({ name, set }));
}

/** The names of protocols below a service: they exist because of the ports below them (RFC 8020). */
export function emptyNonTerminals(
  groups: ReadonlyMap<string, unknown>,
  service: NameKey,
  outcome: number,
): readonly ZoneNode[] {
  return protocolLabels(groups)
    .map((label) => nameBelow(label, service))
    .filter((name) => name !== undefined)
    .map((name) => ({ name, sets: [], alias: undefined, below: COMPLETE, outcome }));
}

/** The types of question for which an alias is followed. */
export const ADDRESS_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA];
