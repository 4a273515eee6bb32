/**
 * The namespaces of pods by address. Pods in the network of their node are left out: others on the node have the same address.
 */
import type { PodObject } from '../objects/objects.ts';
import { PodClaims } from './pod-claims.ts';

/** Pods of one namespace share one value. */
export interface PodNamespace {
  readonly namespace: string;
}

interface SharedNamespace extends PodNamespace {
  claims: number;
}

export class PodNamespaces extends PodClaims<PodNamespace> {
  constructor() {
    const shared = new Map<string, SharedNamespace>();
    super({
      take({ namespace }) {
        const value = shared.get(namespace) ?? { namespace, claims: 0 };
        value.claims += 1;
        shared.set(namespace, value);
        return value;
      },
      release({ namespace }) {
        const value = shared.get(namespace);
        if (value === undefined) return;
        value.claims -= 1;
        if (value.claims === 0) shared.delete(namespace);
      },
    });
  }

  override upsert(pod: PodObject): void {
    super.upsert(pod.isInNodeNetwork === true ? { ...pod, addresses: [] } : pod);
  }
}
