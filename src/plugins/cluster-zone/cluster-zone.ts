/**
 * The zone of a cluster, whose objects the server follows. It outlives plans, and keeps the options of the first plan.
 */
import type { Handler } from '../../chain/handler.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import { Lasting } from '../../contract/lasting.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import { Cluster } from '../../kube/publish/cluster.ts';
import type { NameKey } from '../../wire/types.ts';
import { type ClusterSource, createKubernetesHandler } from '../kubernetes/kubernetes.ts';
import { StubZones } from '../stub-zones/plugin.ts';
import type { ClusterZoneOptions } from './options.ts';

export class ClusterZonePlugin implements Plugin {
  readonly handler: Handler;
  readonly #lasting: Lasting<Cluster>;

  /** @throws RangeError for a domain that leaves no room for services */
  constructor(options: ClusterZoneOptions, context: PluginContext, former: ClusterZonePlugin | undefined) {
    this.#lasting = (former === undefined ? lastingCluster(options, context) : former.#lasting).retain();
    this.handler = createKubernetesHandler(this.cluster);
  }

  get cluster(): Cluster {
    return this.#lasting.value;
  }

  inspect(): PluginInspection {
    return { cluster: { cluster: this.cluster, status: undefined } };
  }

  stop(): Promise<void> {
    return this.#lasting.release();
  }
}

function lastingCluster(options: ClusterZoneOptions, { table, clock, log }: PluginContext): Lasting<Cluster> {
  return new Lasting(new Cluster(options, table, clock, log), (cluster) => cluster.stop());
}

/** The cluster of a complete block. @throws TypeError if it has none */
export function clusterOf({ find }: PluginContext): ClusterSource {
  const zone = find(ClusterZonePlugin);
  if (zone === undefined) throw new TypeError('a block without cluster-zone');
  return zone.cluster;
}

/** Whether the cluster of the block answers a name. */
export function isOfCluster({ find }: PluginContext): (name: NameKey) => boolean {
  return (name) =>
    find(StubZones)?.has(name) !== true && find(ClusterZonePlugin)?.cluster.names.owns(name) === true;
}
