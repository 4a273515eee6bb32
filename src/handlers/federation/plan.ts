/**
 * A federation that the cluster belongs to, as kube-dns knows it: clusters that offer services under the same names.
 */
import type { NameKey } from '../../wire/types.ts';

export interface Federation {
  /** One label in lower case: the third of `service.namespace.federation.svc.domain`. */
  readonly name: string;
  /** Where the federation keeps names of services of all its clusters. */
  readonly domain: NameKey;
}
