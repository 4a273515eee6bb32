/**
 * Several clusters, which are asked one after the other: what one passes on by its `fallthrough`, the next may have.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import type { TransferableZone, TransferSource } from '@portolan/plugins/transfer/transfer-source.ts';
import { Kubernetes, type KubernetesDependencies } from '../kubernetes/kubernetes-plugin.ts';
import type { KubernetesOptions } from '../kubernetes/options.ts';

interface Stanza {
  readonly cluster: Kubernetes;
  readonly zones: ReadonlySet<NameKey>;
  readonly fallthrough: ReadonlySet<NameKey>;
}

export class Kubernetai implements Plugin, TransferSource {
  readonly handler: Handler;
  readonly #stanzas: readonly Stanza[];

  /** @param former shares its clusters with the stanzas that name the same */
  constructor(
    stanzas: readonly KubernetesOptions[],
    dependencies: KubernetesDependencies,
    former?: Kubernetai,
  ) {
    this.#stanzas = stanzas.map((options) => ({
      cluster: new Kubernetes(options, dependencies, former?.clusterFor(options, dependencies)),
      zones: new Set(options.zones),
      fallthrough: new Set(options.fallthrough),
    }));
    const questions = namesWithin(new Set(stanzas.flatMap(({ zones }) => zones)));
    const [only, second] = this.#stanzas;
    this.handler =
      only !== undefined && second === undefined
        ? { ...only.cluster.handler, name: 'kubernetai' }
        : {
            name: 'kubernetai',
            explainedBy: 'cluster',
            role: 'other',
            questions,
            answers: 'unchanged',
            handle: (query, next) => {
              // The answer depends on data that is in no publication of the block.
              if (questions.includes(query.key, query.question.type)) query.forbidStoring();
              return this.#ask(query, next, 0);
            },
          };
  }

  /** For the plugin of the next plan. */
  clusterFor(options: KubernetesOptions, dependencies: KubernetesDependencies): Kubernetes | undefined {
    return this.clusters.find(({ followed }) => followed.isFor(options, dependencies));
  }

  /** In the order in which they are asked. */
  get clusters(): readonly Kubernetes[] {
    return this.#stanzas.map(({ cluster }) => cluster);
  }

  async start(): Promise<void> {
    await Promise.all(this.clusters.map((cluster) => cluster.start()));
  }

  proceed(): void {
    for (const cluster of this.clusters) cluster.proceed();
  }

  follow(): void {
    for (const cluster of this.clusters) cluster.follow();
  }

  serving(): void {
    for (const cluster of this.clusters) cluster.serving();
  }

  /** A cluster that is away must not end the answers for the others. */
  isReady(): boolean {
    return this.clusters.some((cluster) => cluster.isReady());
  }

  inspect(): PluginInspection {
    return this.clusters[0]?.inspect() ?? {};
  }

  async stop(): Promise<void> {
    await Promise.all(this.clusters.map((cluster) => cluster.stop()));
  }

  origins(): Iterable<NameKey> {
    return new Set(this.clusters.flatMap((cluster) => cluster.serviceZones));
  }

  /** The zone of the first cluster that has it. */
  zoneAt(origin: NameKey, client: string): TransferableZone | undefined {
    for (const cluster of this.clusters) {
      const zone = cluster.zoneAt(origin, client);
      if (zone !== undefined) return zone;
    }
    return undefined;
  }

  async #ask(query: Query, next: Next, place: number): Promise<Answer> {
    const stanza = this.#stanzas[place];
    if (stanza === undefined) return next(query);
    const answer = await stanza.cluster.handler.handle(query, (passed) => this.#ask(passed, next, place + 1));
    if (answer.kind !== 'servfail' || !mayAskOthers(stanza, query)) return answer;
    // The cluster may have the name, but does not know it yet. Only what another one has is certain.
    const other = await this.#ask(query, () => answer, place + 1);
    return other.kind === 'records' ? other : answer;
  }
}

/** Whether a cluster that is not listed passes on a name. */
function mayAskOthers({ cluster, zones, fallthrough }: Stanza, { key }: Query): boolean {
  return !cluster.followed.cluster.isKnown && isWithinAny(key, zones) && isWithinAny(key, fallthrough);
}
