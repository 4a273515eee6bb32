/**
 * The pod of a client, from the objects that the caller has read: its address, and what its resolv.conf has beside the domains of the
 * cluster.
 */
import {
  asList,
  asRecord,
  asText,
  asTexts,
  type JsonRecord,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import { flattenObjects } from './raw-evidence.ts';
import type { ExplainOrder } from './settings/control-order.ts';

export interface ClientPod {
  readonly namespace: string;
  readonly address: string | undefined;
  /** Domains of its `dnsConfig`. */
  readonly search: readonly string[];
  /** Undefined: the default. */
  readonly ndots: number | undefined;
  readonly asks: AskedServers;
}

/**
 * The servers that a pod asks. `cluster`: those of the cluster. `node`: those of its node, for a reason in words. `own`: those of its
 * `dnsConfig`, and no domains of the cluster.
 */
export type AskedServers =
  | { readonly kind: 'cluster' }
  | { readonly kind: 'node'; readonly because: string; readonly remedy: string }
  | { readonly kind: 'own'; readonly nameservers: readonly string[] };

/** By namespace and name, or by address. */
export function findPod(
  { from, namespace, pod: name }: Pick<ExplainOrder, 'from' | 'namespace' | 'pod'>,
  objects: readonly unknown[],
): ClientPod | undefined {
  if (name === undefined && from === undefined) return undefined;
  for (const object of flattenObjects(objects)) {
    if (object['kind'] !== 'Pod') continue;
    const metadata = asRecord(object['metadata']);
    const address = asText(asRecord(object['status'])?.['podIP']);
    const isNamed = asText(metadata?.['name']) === name && asText(metadata?.['namespace']) === namespace;
    if (name === undefined ? address === from : isNamed) return readPod(object, address);
  }
  return undefined;
}

export function readPod(object: JsonRecord, address: string | undefined): ClientPod {
  const spec = asRecord(object['spec']);
  const config = asRecord(spec?.['dnsConfig']);
  const options = asList(config?.['options']).map((option) => asRecord(option));
  const ndots = Number(
    asText(options.find((option) => option?.['name'] === 'ndots')?.['value']) ?? Number.NaN,
  );
  return {
    namespace: asText(asRecord(object['metadata'])?.['namespace']) ?? 'default',
    address,
    search: asTexts(config?.['searches']),
    ndots: Number.isInteger(ndots) ? ndots : undefined,
    asks: findAskedServers(spec, asTexts(config?.['nameservers'])),
  };
}

/** By the rules of kubelet: a pod on the network of its node has the policy Default, unless it is ClusterFirstWithHostNet. */
function findAskedServers(spec: JsonRecord | undefined, nameservers: readonly string[]): AskedServers {
  const policy = asText(spec?.['dnsPolicy']) ?? 'ClusterFirst';
  if (policy === 'None') return { kind: 'own', nameservers };
  if (policy === 'Default')
    return { kind: 'node', because: 'its dnsPolicy is Default', remedy: 'Set dnsPolicy: ClusterFirst.' };
  if (policy === 'ClusterFirst' && spec?.['hostNetwork'] === true)
    return {
      kind: 'node',
      because: 'it uses the network of its node, with dnsPolicy ClusterFirst',
      remedy: 'Set dnsPolicy: ClusterFirstWithHostNet.',
    };
  return { kind: 'cluster' };
}
