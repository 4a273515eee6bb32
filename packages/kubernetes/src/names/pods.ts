/**
 * Names of pods: `1-2-3-4.namespace.pod`, the address with dashes (Kubernetes DNS specification, its deprecated part).
 *
 * `insecure` answers for any address, `verified` only for addresses that a pod of the namespace has now.
 */
import { canonicalAddress } from './endpoints.ts';

export type PodMode = 'disabled' | 'insecure' | 'verified';

const IPV4_LABEL = /^\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}$/;

/** The IPv4 address in a pod's label, canonical. */
export function ipv4OfPod(label: string): string | undefined {
  return IPV4_LABEL.test(label) ? canonicalAddress(label.replaceAll('-', '.')) : undefined;
}

/** The address of either family in a pod's label, canonical. */
export function addressOfPod(label: string): string | undefined {
  return ipv4OfPod(label) ?? canonicalAddress(label.replaceAll('-', ':'));
}
