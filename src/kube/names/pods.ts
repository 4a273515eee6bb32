/**
 * Names of pods: `1-2-3-4.namespace.pod`, the address with dashes (Kubernetes DNS specification, its deprecated part).
 *
 * `insecure` answers for any address, `verified` only for addresses that a pod of the namespace has now.
 */

import type { PodObject } from '../objects/objects.ts';
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

/** The addresses of the pods of each namespace. */
export class PodIndex {
  readonly #pods = new Map<string, number>();

  add(pod: PodObject): void {
    for (const key of keysOf(pod)) this.#pods.set(key, (this.#pods.get(key) ?? 0) + 1);
  }

  remove(pod: PodObject): void {
    for (const key of keysOf(pod)) {
      const left = (this.#pods.get(key) ?? 0) - 1;
      if (left > 0) this.#pods.set(key, left);
      else this.#pods.delete(key);
    }
  }

  /** @param address canonical */
  has(namespace: string, address: string): boolean {
    return this.#pods.has(`${namespace}/${address}`);
  }
}

function keysOf({ namespace, addresses }: PodObject): readonly string[] {
  const canonical = new Set(addresses.map(canonicalAddress));
  canonical.delete(undefined);
  return Array.from(canonical, (address) => `${namespace}/${address}`);
}
