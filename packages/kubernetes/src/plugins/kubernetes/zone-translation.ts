/**
 * Several zones with the same names. Questions are translated to the domain that the cluster's names are derived for, and its
 * answers back to the zone of the question.
 */
import { isWithin, ROOT, toKey } from '@portolan/dns/name.ts';
import type { AbsoluteName, NameKey, RecordData, ResourceRecord } from '@portolan/dns/types.ts';

export interface ZoneTranslation {
  /** Translates a name of the zone to the cluster's domain. */
  toCluster(name: AbsoluteName): AbsoluteName;
  /** Translates records of the cluster to the zone. */
  fromCluster(records: readonly ResourceRecord[]): readonly ResourceRecord[];
}

const SAME: ZoneTranslation = { toCluster: (name) => name, fromCluster: (records) => records };

/** @param domain the cluster's domain */
export function translateZone(zone: NameKey, domain: NameKey): ZoneTranslation {
  if (zone === domain) return SAME;
  const move = <Name extends AbsoluteName>(name: Name, from: NameKey, to: NameKey): Name => {
    if (!isWithin(toKey(name), from)) return name;
    const labels = name.slice(0, from === ROOT ? undefined : name.length - from.length);
    const below = labels === ROOT ? '' : labels;
    // Whole labels in front of a zone form a valid name.
    return (to === ROOT && below !== '' ? below : `${below}${to}`) as Name;
  };
  const toZone = <Name extends AbsoluteName>(name: Name) => move(name, domain, zone);
  return {
    toCluster: (name) => move(name, zone, domain),
    fromCluster: (records) =>
      records.map((record) => ({
        ...record,
        name: toZone(record.name),
        data: moveData(record.data, toZone),
      })),
  };
}

/** Does not translate targets of aliases: they are text from the specification of a Service. */
function moveData(data: RecordData, move: (name: AbsoluteName) => AbsoluteName): RecordData {
  switch (data.kind) {
    case 'NS':
    case 'SRV':
    case 'PTR':
      return { ...data, target: move(data.target) };
    case 'SOA':
      return { ...data, primary: move(data.primary), mailbox: move(data.mailbox) };
    default:
      return data;
  }
}
