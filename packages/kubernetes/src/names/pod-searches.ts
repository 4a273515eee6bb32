/**
 * The search domains of pods by address, for those who answer in place of a pod's own search.
 */
import type { PodObject, PodSearch } from '../objects/objects.ts';
import { PodClaims } from './pod-claims.ts';

/** A pod, as far as its search depends on it. Pods that search alike share one value. */
export interface SearchingPod {
  readonly namespace: string;
  readonly search: PodSearch;
}

interface SharedPod {
  readonly pod: SearchingPod;
  claims: number;
}

export class PodSearches extends PodClaims<SearchingPod> {
  constructor() {
    const pods = new SharedPods();
    super({ take: (pod) => pods.take(pod), release: (pod) => pods.release(pod) });
  }
}

class SharedPods {
  readonly #shared = new Map<string, SharedPod>();

  take({ namespace, search = { kind: 'unknown' } }: PodObject): SearchingPod {
    const pod = { namespace, search };
    const text = toSearchKey(pod);
    const shared = this.#shared.get(text) ?? { pod, claims: 0 };
    shared.claims += 1;
    this.#shared.set(text, shared);
    return shared.pod;
  }

  release(pod: SearchingPod): void {
    const text = toSearchKey(pod);
    const shared = this.#shared.get(text);
    if (shared === undefined) return;
    shared.claims -= 1;
    if (shared.claims === 0) this.#shared.delete(text);
  }
}

const toSearchKey = ({ namespace, search }: SearchingPod): string => JSON.stringify([namespace, search]);
