/**
 * Where pods' names stand, by dialect and mode.
 */
import type { NameKey } from '../wire/types.ts';
import { COMPLETE, type ZoneNode } from '../zone/node.ts';
import { METRICS_ID } from './metrics-ids.ts';
import type { ClusterModel } from './model.ts';
import { addressSets, namedSets } from './record-sets.ts';

const ASK_FOR_PODS = { kind: 'ask', labels: 1 } as const;
const metricsId = METRICS_ID.pod;

/** `namespace.pod.<domain>`, where namespaces are known. */
export function podNamespaceNode(
  model: ClusterModel,
  namespace: string,
  name: NameKey,
): ZoneNode | undefined {
  const { dialect, pods } = model.options;
  if (!dialect.usesNamespaces || pods === 'disabled') return undefined;
  if (!model.namespaceExists(model.units.findNamespace(namespace))) return undefined;
  return { name, sets: [], alias: undefined, below: ASK_FOR_PODS, metricsId };
}

/**
 * A pod's name, or its namespace's where all are taken to exist.
 *
 * @param labels those left of `pod`
 */
export function podNode(model: ClusterModel, name: NameKey, labels: readonly string[]): ZoneNode | undefined {
  const { dialect, pods, ttl } = model.options;
  const empty = { name, sets: [], alias: undefined, below: COMPLETE, metricsId };
  if (pods === 'disabled' || labels.includes('*')) return undefined;
  if (labels.length === 1 && !dialect.usesNamespaces) return empty;
  const [label, namespace] = labels;
  if (labels.length !== 2 || label === undefined || namespace === undefined) return undefined;
  const isKnown = !dialect.usesNamespaces || model.namespaceExists(model.units.findNamespace(namespace));
  if (!isKnown) return undefined;
  const address = dialect.podAddress(label);
  // kube-dns never says that there is no such pod.
  if (pods === 'insecure' && address === undefined) return dialect.usesNamespaces ? undefined : empty;
  if (address === undefined) return undefined;
  if (pods === 'verified' && !model.pods.has(namespace, address)) return undefined;
  const sets = addressSets([address], ttl);
  return { ...empty, sets: [...sets, ...dialect.podServices(name, namedSets(name, sets), ttl)] };
}
