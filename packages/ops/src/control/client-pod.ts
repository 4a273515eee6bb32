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
  /** Whether it has no domains of the cluster: the policy None. */
  readonly isolated: boolean;
}

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

function readPod(object: JsonRecord, address: string | undefined): ClientPod {
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
    isolated: spec?.['dnsPolicy'] === 'None',
  };
}
