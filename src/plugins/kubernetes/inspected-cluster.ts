/**
 * The cluster of a plugin, for explanations, the status and checks.
 */
import { Capability } from '../../base/capability.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import type { ClusterWatch } from '../../kube/api/list-watch/cluster-watch.ts';
import type { Cluster } from '../../kube/publish/cluster.ts';

export interface InspectedCluster {
  readonly cluster: Cluster;
  /** How the plugin follows the API server; undefined: the server does it. */
  readonly status: ReturnType<ClusterWatch['status']> | undefined;
}

const CLUSTER = new Capability<InspectedCluster>('cluster');

export function inspectCluster(cluster: InspectedCluster): PluginInspection {
  return { offers: [CLUSTER.offer(cluster)] };
}

/** The clusters of plugins, in their order. */
export function clustersIn(inspections: readonly PluginInspection[]): readonly InspectedCluster[] {
  return CLUSTER.findIn(inspections);
}
