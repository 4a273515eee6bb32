/**
 * The cluster of the process, which the server fills with objects, from an API server or from manifests. It outlives plans, and keeps the
 * options of the first plan, except which names it passes on.
 */
import { type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { namesWithin, type Questions } from '@portolan/kernel/chain/match.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { ClientQuery } from '@portolan/kernel/contract/name-owner.ts';
import type { PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import { ANSWER_TABLE, LOSSES } from '@portolan/kernel/contract/services.ts';
import { Cluster } from '../../publish/cluster.ts';
import { BlockCluster } from './block-cluster.ts';
import { inspectCluster } from './inspected-cluster.ts';
import { createKubernetesHandler, visibleNames } from './kubernetes.ts';
import type { ProcessClusterOptions } from './options.ts';

export class ProcessCluster extends BlockCluster {
  readonly handler: Handler;
  readonly #lasting: RefCounted<Cluster>;
  readonly #pods: ProcessClusterOptions['pods'];
  readonly #exceptions: Questions;

  /** @throws RangeError for a domain that leaves no room for services */
  constructor(options: ProcessClusterOptions, context: PluginContext, former: ProcessCluster | undefined) {
    super();
    this.#lasting = (former === undefined ? openCluster(options, context) : former.#lasting).retain();
    this.#pods = options.pods;
    this.#exceptions = namesWithin(new Set(options.exceptions));
    const handler = createKubernetesHandler(this.cluster, this.#exceptions);
    this.handler = { ...handler, derivesAnswers: true };
  }

  get cluster(): Cluster {
    return this.#lasting.value;
  }

  owns(name: NameKey, query?: ClientQuery): boolean {
    const { names } = this.cluster;
    if (names.findZone(name) === undefined || this.#exceptions.includes(name, TYPE.A)) return false;
    return (query === undefined ? names : visibleNames(this.cluster, query)).owns(name);
  }

  inspect(): PluginInspection {
    return inspectCluster({
      cluster: this.cluster,
      followedBy: 'server',
      status: undefined,
      rules: { pods: this.#pods, namespaces: [], ignoresEmptyServices: false },
    });
  }

  stop(): Promise<void> {
    return this.#lasting.release();
  }
}

function openCluster(
  options: ProcessClusterOptions,
  { use, clock, log }: PluginContext,
): RefCounted<Cluster> {
  const all = { ...options, losses: use(LOSSES) };
  return new RefCounted(new Cluster(all, use(ANSWER_TABLE), clock, log), (cluster) => cluster.stop());
}
