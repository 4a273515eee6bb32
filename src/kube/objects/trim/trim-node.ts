/**
 * Node: the zone and region in its labels. The newer generation of labels takes precedence.
 */
import type { NodeObject } from '../objects.ts';
import { nameless, readIdentity, readLabel, type Trimmed } from './trimmed.ts';

const ZONE_LABELS = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const REGION_LABELS = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];

/** A node without either is left out. */
export function trimNode(raw: unknown): Trimmed<NodeObject> {
  const identity = readIdentity(raw, false);
  if (identity === undefined) return nameless();
  const { name, key } = identity;
  const zone = readFirstLabel(raw, ZONE_LABELS);
  const region = readFirstLabel(raw, REGION_LABELS);
  if (zone === undefined || region === undefined) return { kind: 'left-out', key };
  return { kind: 'object', object: { kind: 'Node', name, zone, region } };
}

function readFirstLabel(raw: unknown, labels: readonly string[]): string | undefined {
  return labels.map((label) => readLabel(raw, label)).find((value) => value !== undefined && value !== '');
}
