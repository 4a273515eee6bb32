/**
 * Reads a catalog zone: which zones its producer lists (RFC 9432).
 */
import { labelsBelow, toKey } from '@portolan/dns/name.ts';
import { type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { ZoneNames } from '../file/zone-names.ts';

export interface CatalogMember {
  readonly zone: NameKey;
  /** The label of its node: another one means that the zone starts over. */
  readonly id: string;
  /** The catalog that may take the zone over; undefined: none may. */
  readonly newOwner: NameKey | undefined;
}

/** A catalog that must not be followed (RFC 9432 section 5.1). */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
}

const VERSION = '2';

/** By the member zone. @throws CatalogError */
export function readCatalog(names: ZoneNames): ReadonlyMap<NameKey, CatalogMember> {
  const { origin } = names;
  const nodes = new Map<string, NameKey>();
  const owners = new Map<string, NameKey>();
  const versions: string[] = [];
  if (names.apex.records(TYPE.NS).length === 0)
    throw new CatalogError(`catalog zone ${origin} has no NS record`);
  for (const name of names) {
    const labels = labelsBelow(name.name, origin);
    if (labels[0] === 'version' && labels.length === 1) versions.push(...name.records(TYPE.TXT).map(readTxt));
    const [top, id, property, ...more] = labels.toReversed();
    if (top !== 'zones' || id === undefined || more.length > 0) continue;
    if (property === undefined) takeOnly(nodes, id, name.records(TYPE.PTR), origin);
    else if (property === 'coo') takeOnly(owners, id, name.records(TYPE.PTR), origin);
  }
  const [version] = versions;
  if (version === undefined || versions.length > 1)
    throw new CatalogError(`catalog zone ${origin} must have exactly one version TXT record`);
  if (version !== VERSION)
    throw new CatalogError(`catalog zone ${origin} has unsupported version ${JSON.stringify(version)}`);
  return collectMembers(nodes, owners, origin);
}

function collectMembers(
  nodes: ReadonlyMap<string, NameKey>,
  owners: ReadonlyMap<string, NameKey>,
  origin: NameKey,
): ReadonlyMap<NameKey, CatalogMember> {
  const members = new Map<NameKey, CatalogMember>();
  for (const [id, zone] of nodes) {
    const other = members.get(zone);
    if (other !== undefined)
      throw new CatalogError(
        `catalog member zone ${zone} of ${origin} is listed by both ${other.id} and ${id}`,
      );
    members.set(zone, { zone, id, newOwner: owners.get(id) });
  }
  return members;
}

function takeOnly(
  into: Map<string, NameKey>,
  id: string,
  records: readonly ResourceRecord[],
  origin: NameKey,
): void {
  const [record, ...others] = records;
  if (record === undefined) return;
  if (others.length > 0)
    throw new CatalogError(`catalog member ${id}.zones.${origin} must have exactly one PTR record`);
  if (record.data.kind === 'PTR') into.set(id, toKey(record.data.target));
}

function readTxt({ data }: ResourceRecord): string {
  return data.kind === 'TXT' ? Buffer.concat(data.strings).toString('latin1') : '';
}
