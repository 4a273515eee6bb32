/**
 * Names of services in a federation: `service.namespace.federation.svc.domain`.
 */
import { isWithin, labelsBelow } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { isDns1035Label, isDns1123Label } from '../../names/name-rules.ts';

export interface FederatedService {
  readonly service: string;
  readonly namespace: string;
  readonly federation: string;
}

/** @param domain the cluster's @returns undefined for other names; does not check that the federation exists */
export function readFederatedName(name: NameKey, domain: NameKey): FederatedService | undefined {
  if (!isWithin(name, domain)) return undefined;
  const labels = labelsBelow(name, domain);
  const [service, namespace, federation, top] = labels;
  if (labels.length !== 4 || top !== 'svc') return undefined;
  if (service === undefined || namespace === undefined || federation === undefined) return undefined;
  const isOne = isDns1035Label(service) && isDns1123Label(namespace) && isDns1123Label(federation);
  return isOne ? { service, namespace, federation } : undefined;
}
