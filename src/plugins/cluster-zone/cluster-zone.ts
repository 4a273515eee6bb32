/**
 * The zone of a cluster, whose objects the server follows. It outlives plans, and keeps the options of the first plan.
 */
import type { Handler } from '../../chain/handler.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import { Lasting } from '../../contract/lasting.ts';
import type { PluginContext } from '../../contract/plugin.ts';
import { ANSWER_TABLE } from '../../contract/services.ts';
import { Cluster } from '../../kube/publish/cluster.ts';
import type { NameKey } from '../../wire/types.ts';
import { inspectCluster } from '../kubernetes/inspected-cluster.ts';
import { createKubernetesHandler } from '../kubernetes/kubernetes.ts';
import type { ClusterZoneOptions } from './options.ts';
import { ClusterZone } from './zone-of-cluster.ts';

export class ClusterZonePlugin extends ClusterZone {
  readonly handler: Handler;
  readonly #lasting: Lasting<Cluster>;
  readonly #domain: NameKey;

  /** @throws RangeError for a domain that leaves no room for services */
  constructor(options: ClusterZoneOptions, context: PluginContext, former: ClusterZonePlugin | undefined) {
    super();
    this.#domain = options.domain;
    this.#lasting = (former === undefined ? lastingCluster(options, context) : former.#lasting).retain();
    this.handler = { ...createKubernetesHandler(this.cluster), derivesAnswers: true };
  }

  get domain(): NameKey {
    return this.#domain;
  }

  get cluster(): Cluster {
    return this.#lasting.value;
  }

  inspect(): PluginInspection {
    return inspectCluster({ cluster: this.cluster, status: undefined });
  }

  stop(): Promise<void> {
    return this.#lasting.release();
  }
}

function lastingCluster(options: ClusterZoneOptions, { use, clock, log }: PluginContext): Lasting<Cluster> {
  return new Lasting(new Cluster(options, use(ANSWER_TABLE), clock, log), (cluster) => cluster.stop());
}
