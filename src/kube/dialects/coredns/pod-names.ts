/**
 * Names of pods as in CoreDNS: only in namespaces that exist, for addresses of both families, with SRV records.
 */
import type { NameKey } from '../../../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../../../zone/node.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { addressOfPod } from '../../names/pods.ts';
import { addressSets, namedSets } from '../../names/record-sets.ts';
import type { ClusterDirectory } from '../dialect.ts';
import { serviceSets } from './service-set.ts';

const ASK_FOR_PODS = { kind: 'ask', labels: 1 } as const;
const outcome = OUTCOME.pod;

export function podNamespaceNode(
  name: NameKey,
  namespace: string,
  directory: ClusterDirectory,
): ZoneNode | undefined {
  if (directory.pods === 'disabled' || !directory.namespaceExists(namespace)) return undefined;
  return { name, sets: [], alias: undefined, below: ASK_FOR_PODS, outcome };
}

export function podName(
  name: NameKey,
  labels: readonly string[],
  directory: ClusterDirectory,
): ZoneNode | undefined {
  const { pods, ttl } = directory;
  const [label, namespace] = labels;
  if (pods === 'disabled' || labels.length !== 2 || label === undefined || namespace === undefined)
    return undefined;
  const address = addressOfPod(label);
  if (address === undefined || !directory.namespaceExists(namespace)) return undefined;
  if (pods === 'verified' && !directory.hasPod(namespace, address)) return undefined;
  const addresses = addressSets([address], ttl);
  const services = serviceSets([{ name, port: 0, addresses: namedSets(name, addresses) }], 1, ttl);
  return { name, sets: [...addresses, ...services], alias: undefined, below: COMPLETE, outcome };
}
