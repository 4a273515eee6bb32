/**
 * Several zones with the same names: questions are asked in the one that the names of a cluster are derived for, and its answers
 * moved to the zone of the question.
 */
import { isWithin, ROOT, toKey } from '../../wire/name.ts';
import type { AbsoluteName, NameKey, RecordData, ResourceRecord } from '../../wire/types.ts';

export interface ZoneTranslation {
  /** A name of the zone, as the cluster has it. */
  toCluster(name: AbsoluteName): AbsoluteName;
  /** Records of the cluster, as the zone has them. */
  fromCluster(records: readonly ResourceRecord[]): readonly ResourceRecord[];
}

const SAME: ZoneTranslation = { toCluster: (name) => name, fromCluster: (records) => records };

/** @param domain that of the cluster */
export function translateZone(zone: NameKey, domain: NameKey): ZoneTranslation {
  if (zone === domain) return SAME;
  const move = <Name extends AbsoluteName>(name: Name, from: NameKey, to: NameKey): Name => {
    if (!isWithin(toKey(name), from)) return name;
    const labels = name.slice(0, from === ROOT ? undefined : name.length - from.length);
    const below = labels === ROOT ? '' : labels;
    // Whole labels in front of a zone: a name again.
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

/** The target of an alias is text of a Service's specification, and is not translated. */
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
