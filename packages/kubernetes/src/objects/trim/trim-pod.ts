/**
 * Pod: its addresses, until it ends, and if wanted its labels and how its containers search for names.
 */
import { isIP } from 'node:net';
import type { PodObject, PodSearch } from '../objects.ts';
import { asList, asRecord, asText, asTexts } from './fields.ts';
import { nameless, readIdentity, readLabels, type Trimmed } from './trimmed.ts';

/** The object of an ended pod still has its address, which another pod may have by now. */
const ENDED: readonly unknown[] = ['Succeeded', 'Failed'];
const UNKNOWN: PodSearch = { kind: 'unknown' };
const OS_LABEL = 'kubernetes.io/os';

export function trimPod(raw: unknown): Trimmed<PodObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name, key } = identity;
  const status = asRecord(asRecord(raw)?.['status']);
  const several = asList(status?.['podIPs']).map((entry) => asText(asRecord(entry)?.['ip']) ?? '');
  const candidates = several.length > 0 ? several : [asText(status?.['podIP']) ?? ''];
  const addresses = candidates.filter((address) => isIP(address) !== 0);
  if (addresses.length === 0 || ENDED.includes(status?.['phase'])) return { kind: 'left-out', key };
  const isInNodeNetwork = asRecord(asRecord(raw)?.['spec'])?.['hostNetwork'] === true;
  const object = {
    kind: 'Pod',
    namespace,
    name,
    addresses,
    ...(isInNodeNetwork && { isInNodeNetwork }),
  } as const;
  return { kind: 'object', object };
}

/** With its search domains and labels. */
export function trimWholePod(raw: unknown): Trimmed<PodObject> {
  const trimmed = trimPod(raw);
  if (trimmed.kind !== 'object') return trimmed;
  return { kind: 'object', object: { ...trimmed.object, search: readSearch(raw), labels: readLabels(raw) } };
}

/** As the kubelet writes the resolv.conf of containers. */
function readSearch(raw: unknown): PodSearch {
  const spec = asRecord(asRecord(raw)?.['spec']);
  // Such a pod has the address of its node, as all others of its kind there.
  if (spec === undefined || spec['hostNetwork'] === true || isWindows(spec)) return UNKNOWN;
  const domains = asTexts(asRecord(spec['dnsConfig'])?.['searches']);
  switch (spec['dnsPolicy'] ?? 'ClusterFirst') {
    case 'ClusterFirst':
    case 'ClusterFirstWithHostNet':
      return { kind: 'cluster', more: domains };
    case 'None':
      return { kind: 'own', domains };
    default:
      return UNKNOWN;
  }
}

/** Windows appends only the first domain to names with dots. */
function isWindows(spec: NonNullable<ReturnType<typeof asRecord>>): boolean {
  const names = [asRecord(spec['os'])?.['name'], asRecord(spec['nodeSelector'])?.[OS_LABEL]];
  return names.includes('windows');
}
