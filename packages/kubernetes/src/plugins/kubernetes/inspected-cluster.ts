/**
 * The cluster of a plugin, for the server that fills it, and for explanations, the status and checks.
 */
import { Capability } from '@portolan/kernel/base/capability.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { ClusterWatch } from '../../api/list-watch/cluster-watch.ts';
import type { Cluster } from '../../publish/cluster.ts';
import type { KubernetesOptions } from './options.ts';

export interface InspectedCluster {
  readonly cluster: Cluster;
  /** Who follows its objects. The server fills the clusters of plugins that do not. */
  readonly followedBy: 'plugin' | 'server';
  /** How the plugin follows the API server; undefined: it has not begun, or the server does it. */
  readonly status: ReturnType<ClusterWatch['status']> | undefined;
  readonly rules: ClusterNameRules;
}

/** Which of the cluster's objects have names. */
export interface ClusterNameRules extends Pick<KubernetesOptions, 'pods'> {
  /** The namespaces whose services have names; empty: all. */
  readonly namespaces: readonly string[];
  /** Whether services with addresses and without ready endpoints have no names. */
  readonly ignoresEmptyServices: boolean;
}

const CLUSTER = new Capability<InspectedCluster>('cluster');

export function inspectCluster(cluster: InspectedCluster): PluginInspection {
  return { offers: [CLUSTER.offer(cluster)] };
}

/** The clusters of plugins, in their order. */
export function clustersIn(inspections: readonly PluginInspection[]): readonly InspectedCluster[] {
  return CLUSTER.findIn(inspections);
}

/** The cluster that the server fills; undefined: no plugin waits for its objects. */
export function findClusterToFill(inspections: readonly PluginInspection[]): Cluster | undefined {
  return clustersIn(inspections).find(({ followedBy }) => followedBy === 'server')?.cluster;
}
