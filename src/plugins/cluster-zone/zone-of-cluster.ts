/**
 * How other plugins find the cluster of their block. It is apart from the plugin, whose code blocks without a cluster do not load.
 */
import type { Handler } from '../../chain/handler.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import type { Cluster } from '../../kube/publish/cluster.ts';
import type { NameKey } from '../../wire/types.ts';
import type { ClusterSource } from '../kubernetes/kubernetes.ts';
import { StubZones } from '../stub-zones/plugin.ts';

export abstract class ClusterZone implements Plugin {
  abstract readonly handler: Handler;
  /** The apex of the zone. */
  abstract get domain(): NameKey;
  abstract get cluster(): Cluster;
}

/** The cluster of a complete block. @throws TypeError if it has none */
export function clusterOf({ find }: PluginContext): ClusterSource {
  const zone = find(ClusterZone);
  if (zone === undefined) throw new TypeError('a block without cluster-zone');
  return zone.cluster;
}

/** Whether the cluster of the block answers a name. */
export function isOfCluster({ find }: PluginContext): (name: NameKey) => boolean {
  return (name) =>
    find(StubZones)?.has(name) !== true && find(ClusterZone)?.cluster.names.owns(name) === true;
}
