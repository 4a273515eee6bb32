/**
 * SRV records as CoreDNS weighs them: every pair of an address and a port counts, and 100 is divided among all pairs.
 */
import { type NameKey, type RecordData, TYPE } from '../../wire/types.ts';
import type { NamedSet, RecordSet } from '../../zone/record-set.ts';

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
 * @param pairs pairs of an address and a port; more than there are records where pairs make the same one
 */
export function serviceSets(
  targets: readonly ServiceTarget[],
  pairs: number,
  ttl: number,
): readonly RecordSet[] {
  if (targets.length === 0) return [];
  const weight = Math.max(1, Math.floor(100 / pairs));
  const seen = new Set<string>();
  const data: RecordData[] = [];
  const additional: NamedSet[] = [];
  for (const { name, port, addresses } of targets) {
    if (!seen.has(name)) additional.push(...addresses);
    seen.add(name);
    const record = `${port} ${name}`;
    if (seen.has(record)) continue;
    seen.add(record);
    data.push({ kind: 'SRV', priority: 0, weight, port, target: name });
  }
  return [{ type: TYPE.SRV, ttl, data, additional }];
}
