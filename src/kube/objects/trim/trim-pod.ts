/**
 * Pod: its addresses, until it ends.
 */
import { isIP } from 'node:net';
import type { PodObject } from '../objects.ts';
import { asList, asRecord, asText } from './fields.ts';
import { nameless, readIdentity, type Trimmed } from './trimmed.ts';

/** The object of an ended pod still has its address, which another pod may have by now. */
const ENDED: readonly unknown[] = ['Succeeded', 'Failed'];

export function trimPod(raw: unknown): Trimmed<PodObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name, key } = identity;
  const status = asRecord(asRecord(raw)?.['status']);
  const several = asList(status?.['podIPs']).map((entry) => asText(asRecord(entry)?.['ip']) ?? '');
  const candidates = several.length > 0 ? several : [asText(status?.['podIP']) ?? ''];
  const addresses = candidates.filter((address) => isIP(address) !== 0);
  if (addresses.length === 0 || ENDED.includes(status?.['phase'])) return { kind: 'left-out', key };
  return { kind: 'object', object: { kind: 'Pod', namespace, name, addresses } };
}
