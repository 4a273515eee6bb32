/**
 * How other plugins find the cluster of their block. It is apart from the plugin, whose code blocks without a cluster do not load.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import type { Plugin, PluginContext } from '@portolan/kernel/contract/plugin.ts';
import type { Cluster } from '../../publish/cluster.ts';
import type { ClusterSource } from './kubernetes.ts';

export abstract class BlockCluster implements Plugin {
  abstract readonly handler: Handler;
  abstract get cluster(): Cluster;
  /** Whether it answers a name, or denies it. */
  abstract owns(name: NameKey): boolean;
}

/** The cluster of a complete block. @throws TypeError if it has none */
export function requireCluster({ find }: PluginContext): ClusterSource {
  const plugin = find(BlockCluster);
  if (plugin === undefined) throw new TypeError('a block without a cluster');
  return plugin.cluster;
}

/** Whether the cluster of the block answers a name. */
export function isOfCluster({ find }: PluginContext): (name: NameKey) => boolean {
  return (name) => find(BlockCluster)?.owns(name) === true;
}
