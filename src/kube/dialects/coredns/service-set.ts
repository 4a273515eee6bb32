/**
 * SRV records as CoreDNS weighs them: every pair of an address and a port counts, and 100 is divided among all pairs.
 */
import { type NameKey, type RecordData, TYPE } from '../../../wire/types.ts';
import type { NamedSet, RecordSet } from '../../../zone/record-set.ts';

/** Where an SRV record leads. */
export interface ServiceTarget {
  readonly name: NameKey;
  readonly port: number;
  /** The target's addresses. */
  readonly addresses: readonly NamedSet[];
}

/**
 * The SRV set of these targets, as a list: empty when there are none.
 *
 * @param targets those of one name one behind the other
 * @param pairs pairs of an address and a port; more than there are records where pairs make the same one
 */
export function serviceSets(
  targets: readonly ServiceTarget[],
  pairs: number,
  ttl: number,
): readonly RecordSet[] {
  if (targets.length === 0) return [];
  const weight = Math.max(1, Math.floor(100 / pairs));
  const data: ServiceData[] = [];
  const additional: NamedSet[] = [];
  let current: NameKey | undefined;
  let first = 0;
  for (const { name, port, addresses } of targets) {
    if (name !== current) {
      current = name;
      first = data.length;
      additional.push(...addresses);
    }
    if (hasPort(data, first, port)) continue;
    data.push({ kind: 'SRV', priority: 0, weight, port, target: name });
  }
  return [{ type: TYPE.SRV, ttl, data, additional }];
}

type ServiceData = Extract<RecordData, { kind: 'SRV' }>;

/** TCP and UDP of one port make the same record, and so do two addresses of one name. */
function hasPort(data: readonly ServiceData[], first: number, port: number): boolean {
  for (let index = first; index < data.length; index += 1) if (data[index]?.port === port) return true;
  return false;
}
