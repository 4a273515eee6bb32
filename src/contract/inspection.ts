/**
 * What a plugin holds, for explanations, the status and checks. Nothing here answers queries.
 */
import type { Forwarder } from '../forward/forwarder.ts';
import type { ClusterWatch } from '../kube/api/list-watch/cluster-watch.ts';
import type { Cluster } from '../kube/publish/cluster.ts';

export interface PluginInspection {
  readonly cluster?: InspectedCluster;
  /** One for each of its rules that `Forwarder` asks. */
  readonly forwarders?: readonly Forwarder[];
  /** The zone whose names come back from the servers that they are forwarded to; undefined: none do. */
  readonly loopingZone?: string;
}

export interface InspectedCluster {
  readonly cluster: Cluster;
  /** How the plugin follows the API server; undefined: the server does it. */
  readonly status: ReturnType<ClusterWatch['status']> | undefined;
}
