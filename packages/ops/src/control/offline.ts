/**
 * A server without sockets, to explain what a configuration would answer. Its blocks, plugins and names are those of a running server.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import { makePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { mapUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { ManifestSource } from '@portolan/kubernetes/manifests/manifest-source.ts';
import { clustersIn } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { toClusterSinks } from '@portolan/kubernetes/publish/cluster-sinks.ts';
import { type Dependencies, type ObjectSource, openObjectSource } from '@portolan/server/object-source.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { PLUGIN_SERVICES } from '@portolan/server/plugin-services/plugin-services.ts';
import { closestGroup, Explainer } from './explain.ts';

export interface OfflineOptions {
  readonly plan: ServerPlan;
  /** A folder that replaces the API server; undefined: the plan names the source. */
  readonly manifests: string | undefined;
  readonly version: string;
  readonly dependencies: Dependencies;
}

/** Milliseconds until objects that are not listed yet are missing. */
const MAX_WAIT = 15_000;

export class OfflineServer {
  readonly explainer: Explainer;
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: OfflineOptions;
  #manifests: ManifestSource | undefined;
  #source: ObjectSource | undefined;

  /** @throws the error of a plugin that cannot be made. Load the plugins before */
  constructor(options: OfflineOptions) {
    const { plan, manifests, version, dependencies } = options;
    const { clock, log } = dependencies;
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    const engine = manifests === undefined ? plan.engine : withoutApi(plan.engine);
    this.#engine = new Engine(engine, { readers: 1, services: PLUGIN_SERVICES, version, clock, log });
    this.explainer = new Explainer({ engine: this.#engine, plan, missing: () => this.#missing(), clock });
  }

  /** Resolves when the objects are listed, or some time is over. @throws the reason why they cannot be read */
  async start(): Promise<void> {
    const { plan, manifests } = this.#options;
    await this.#engine.start();
    const [found] = clustersIn(this.#engine.serverBlocks.inspect());
    if (found === undefined) return;
    const { cluster } = found;
    if (manifests !== undefined) await this.#readManifests(manifests, cluster);
    else if (plan.objects !== undefined) await this.#follow(cluster);
    await this.#untilKnown(cluster);
    cluster.settle();
  }

  /**
   * Answers a query as the listeners that serve its name the closest do.
   *
   * @param key the name in its question
   */
  async answer(key: NameKey, packet: Uint8Array, client: Client): Promise<Uint8Array | undefined> {
    const group = closestGroup(this.#options.plan.engine.groups, key);
    return await this.#engine.serverBlocks.findQueryHandler(group?.server ?? '')?.(packet, client);
  }

  async stop(): Promise<void> {
    this.#manifests?.stop();
    await this.#source?.stop();
    await this.#engine.stop();
  }

  async #readManifests(folder: string, cluster: Cluster): Promise<void> {
    const sinks = toClusterSinks(cluster);
    this.#manifests = new ManifestSource({
      folder,
      allowEmpty: true,
      sinks,
      clock: this.#clock,
      log: this.#log,
    });
    await this.#manifests.start();
  }

  async #follow(cluster: Cluster): Promise<void> {
    const { plan, dependencies } = this.#options;
    if (plan.objects === undefined) return;
    this.#source = await openObjectSource(plan.objects.source, dependencies);
    await this.#source.start(toClusterSinks(cluster));
  }

  #untilKnown(cluster: Cluster): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(MAX_WAIT, resolve);
      cluster.whenKnown(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #missing(): readonly string[] {
    return this.#source?.status().reasons ?? [];
  }
}

/** The same plan, whose plugins that follow an API server do not start. */
function withoutApi(plan: EnginePlan): EnginePlan {
  return mapUses(plan, (use) =>
    use.definition.followsApiServer?.(use.options) === true
      ? {
          ...use,
          definition: {
            name: use.name,
            create(_, context, former): Plugin {
              const plugin = makePlugin(use, context, former);
              const { handler } = plugin;
              return {
                handler,
                inspect: () => plugin.inspect?.() ?? {},
                stop: (reason) => plugin.stop?.(reason),
              };
            },
          },
        }
      : use,
  );
}
