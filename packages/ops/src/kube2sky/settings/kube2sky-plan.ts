/**
 * The settings of kube2sky, complete and checked.
 */
import type { EtcdEndpoint } from '@portolan/etcd/source/client/endpoints.ts';

export interface Kube2SkyPlan {
  /** The domain under which to create names, in lower case, with a final dot. */
  readonly domain: string;
  /** The members of etcd; at least one. */
  readonly endpoints: readonly EtcdEndpoint[];
  /** The version of etcd's API. */
  readonly version: 2 | 3;
  /** Milliseconds of failed writes after which the program exits; 0: never. */
  readonly mutationTimeout: number;
}
