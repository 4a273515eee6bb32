/**
 * Names of pods as in kube-dns: every namespace counts as existing, and without verification every name does.
 */
import type { NameKey } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { ipv4OfPod } from '../../names/pods.ts';
import { addressSets } from '../../names/record-sets.ts';
import type { ClusterDirectory } from '../dialect.ts';

export function podName(
  name: NameKey,
  labels: readonly string[],
  directory: ClusterDirectory,
): ZoneNode | undefined {
  const { pods, ttl } = directory;
  if (pods === 'disabled' || labels.includes('*')) return undefined;
  const empty = { name, sets: [], alias: undefined, below: COMPLETE, outcome: OUTCOME.pod };
  const [label = '', namespace] = labels;
  if (labels.length === 1) return empty;
  if (labels.length !== 2 || namespace === undefined) return undefined;
  const address = ipv4OfPod(label);
  // kube-dns never denies a pod's name.
  if (address === undefined) return pods === 'insecure' ? empty : undefined;
  if (pods === 'verified' && !directory.hasPod(namespace, address)) return undefined;
  return { ...empty, sets: addressSets([address], ttl) };
}
