/**
 * The answer of a zone without delegations and wildcards to a question: the algorithm of RFC 1034 section 4.3.2.
 *
 * It goes one step: it reports a CNAME as `alias`, and the caller continues with its target, in this zone or another.
 */
import { toKey } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  type Question,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import { findRecordSet, type NameSource, type ZoneNode } from './node.ts';
import { type NamedSet, type RecordSet, toRecords } from './record-set.ts';
import { negativeSoa, type Zone } from './zone.ts';

export type ZoneAnswer =
  | {
      readonly kind: 'records';
      readonly records: readonly ResourceRecord[];
      readonly additionals: readonly ResourceRecord[];
    }
  /** The name is an alias: its records, and the question to continue with. */
  | {
      readonly kind: 'alias';
      readonly records: readonly ResourceRecord[];
      readonly target: AbsoluteName;
      readonly unanswered: 'alias' | 'nodata';
      readonly soa: ResourceRecord;
    }
  /** The name exists, but has no records of this type. */
  | { readonly kind: 'nodata'; readonly soa: ResourceRecord }
  | { readonly kind: 'nxdomain'; readonly soa: ResourceRecord; readonly authoritative: boolean };

/**
 * @param question its name is within the zone; any type but ANY and the other meta types
 */
export function lookUp(source: NameSource, zone: Zone, question: Question): ZoneAnswer {
  const node = source.find(toKey(question.name));
  if (node !== undefined) return answerAt(source, zone, node, question);
  return { kind: 'nxdomain', soa: negativeSoa(zone), authoritative: zone.authoritativeNxdomain };
}

function answerAt(source: NameSource, zone: Zone, node: ZoneNode, question: Question): ZoneAnswer {
  const { name, type } = question;
  const set = findRecordSet(node, type);
  if (set !== undefined) return answerWith(source, set, name);
  const { alias } = node;
  if (alias?.types.includes(type)) {
    const data = { kind: 'CNAME', target: alias.target } as const;
    return {
      kind: 'alias',
      records: [{ name, class: CLASS.IN, ttl: alias.ttl, data }],
      target: alias.target,
      unanswered: alias.unanswered,
      soa: negativeSoa(zone),
    };
  }
  const cname = alias === undefined ? findRecordSet(node, TYPE.CNAME) : undefined;
  const data = cname?.data[0];
  if (cname === undefined || data?.kind !== 'CNAME') return { kind: 'nodata', soa: negativeSoa(zone) };
  const records = toRecords(name, cname);
  return { kind: 'alias', records, target: data.target, unanswered: 'alias', soa: negativeSoa(zone) };
}

function answerWith(source: NameSource, set: RecordSet, name: AbsoluteName): ZoneAnswer {
  const additionals = additionalSets(source, set);
  return {
    kind: 'records',
    records: toRecords(name, set),
    additionals: additionals.flatMap((named) => toRecords(named.name, named.set)),
  };
}

/** The addresses of the targets of a set (RFC 2782), if the zone has them. */
function additionalSets(source: NameSource, set: RecordSet): readonly NamedSet[] {
  if (set.additional !== 'elsewhere') return set.additional;
  const found: NamedSet[] = [];
  const seen = new Set<NameKey>();
  for (const data of set.data) {
    const target = data.kind === 'SRV' ? data.target : undefined;
    if (target === undefined || seen.has(toKey(target))) continue;
    seen.add(toKey(target));
    const node = source.find(toKey(target));
    if (node === undefined) continue;
    for (const type of [TYPE.A, TYPE.AAAA]) {
      const addresses = findRecordSet(node, type);
      if (addresses !== undefined) found.push({ name: target, set: addresses });
    }
  }
  return found;
}
