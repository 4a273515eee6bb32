/**
 * The settings of kube2sky, complete and checked.
 */
import type { Endpoint } from '../../sources/etcd/client/endpoints.ts';

export interface Kube2SkyPlan {
  /** Under which names are created, in lower case, with a dot at its end. */
  readonly domain: string;
  /** The members of etcd: at least one. */
  readonly endpoints: readonly Endpoint[];
  /** Of etcd's API. */
  readonly version: 2 | 3;
  /** Milliseconds of failed writes after which the program ends; 0: it never does. */
  readonly mutationTimeout: number;
}
