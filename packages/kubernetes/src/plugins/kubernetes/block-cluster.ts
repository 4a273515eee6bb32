/**
 * How other plugins find the cluster of their block. It is apart from the plugin, whose code blocks without a cluster do not load.
 */
import { NameOwner } from '@portolan/kernel/contract/name-owner.ts';
import type { PluginContext } from '@portolan/kernel/contract/plugin.ts';
import type { Cluster } from '../../publish/cluster.ts';
import type { ClusterSource } from './kubernetes.ts';

export abstract class BlockCluster extends NameOwner {
  abstract get cluster(): Cluster;
}

/** The cluster of a complete block. @throws TypeError if it has none */
export function requireCluster({ find }: PluginContext): ClusterSource {
  const plugin = find(BlockCluster);
  if (plugin === undefined) throw new TypeError('a block without a cluster');
  return plugin.cluster;
}
