/**
 * `kubernetes` of a Corefile: follows a cluster, and answers for its names.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Chain, Handler } from '../../chain/handler.ts';
import { namesWithin } from '../../chain/match.ts';
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { Connection } from '../../kube/api/connection/types.ts';
import { type ClusterSinks, ClusterWatch } from '../../kube/api/list-watch/cluster-watch.ts';
import { coreDns } from '../../kube/dialects/coredns/dialect.ts';
import { Cluster } from '../../kube/publish/cluster.ts';
import type { PublicationId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { isWithin, ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { observeRequests } from './api-requests.ts';
import { ClusterZones } from './cluster-zones.ts';
import { openCluster } from './open-cluster.ts';
import type { KubernetesApi, KubernetesOptions } from './options.ts';
import { observeChanges } from './programming-latency.ts';

export interface KubernetesDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: PluginMetrics;
  readonly table: TableWriter;
  /** The whole server. */
  readonly chain: Chain;
  /** Addresses at which clients reach us. */
  readonly ownAddresses: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether names fall through before the cluster is listed, as in CoreDNS. */
  readonly isStrict: boolean;
  /** How the API server is reached. Default: by sockets. */
  readonly connect?: (api: KubernetesApi) => Promise<Connection>;
}

// Keys by inspection.
const REVERSE_TREES = ['in-addr.arpa.' as NameKey, 'ip6.arpa.' as NameKey];
/** Replaces the root zone, in which the names of zones have no room. */
const ROOT_DOMAIN = 'root.invalid.' as NameKey;
/** Milliseconds between two log lines while the start waits. */
const WAIT_LINE = 500;

export class Kubernetes {
  readonly handler: Handler;
  readonly #options: KubernetesOptions;
  readonly #dependencies: KubernetesDependencies;
  readonly #cluster: Cluster;
  readonly #publication: PublicationId;
  #connection: Connection | undefined;
  #watch: ClusterWatch | undefined;
  #isToProceed = false;
  #endWait: () => void = () => {};

  /** @throws RangeError for a zone that leaves no room for services */
  constructor(options: KubernetesOptions, dependencies: KubernetesDependencies) {
    const { table, clock, log, chain, ownAddresses } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#publication = table.definePublication();
    const domain = options.primaryZone === ROOT ? ROOT_DOMAIN : options.primaryZone;
    const isReverse = (zone: NameKey) => REVERSE_TREES.some((tree) => isWithin(zone, tree));
    const { pods, ttl, hasEndpoints, ignoresEmptyService } = options;
    const reverseZones = options.zones.filter((zone) => isReverse(zone) && zone !== domain);
    const settings = {
      ...{ domain, dialect: coreDns, pods, ttl, reverseZones, ownAddresses, hasEndpoints },
      ignoresEmptyServices: ignoresEmptyService,
      publication: this.#publication,
    };
    this.#cluster = new Cluster(settings, table, clock, withoutNews(log));
    const { isStrict } = dependencies;
    const zones = new ClusterZones({ options, cluster: this.#cluster, domain, chain, isStrict });
    const parts = {
      name: 'kubernetes',
      questions: namesWithin(new Set(options.zones)),
      answers: 'unchanged',
      handle: (query, next) => zones.handle(query, next),
    } satisfies Omit<Handler, 'role'>;
    this.handler = isWholeInTable(options, [domain, ...reverseZones])
      ? {
          ...parts,
          role: 'publisher',
          publication: this.#publication,
          unpublished: namesWithin(new Set(options.fallthrough)),
        }
      : {
          ...parts,
          role: 'other',
          handle(query, next) {
            // The answer depends on data that is in no publication of the block.
            if (parts.questions.includes(query.key, query.question.type)) query.forbidStoring();
            return zones.handle(query, next);
          },
        };
  }

  /** Begins to follow the cluster, and waits for its first state. @throws ClusterNotFoundError, ClusterConfigurationError */
  async start(): Promise<void> {
    const { api, labels, namespaceLabels, endpointPodNames } = this.#options;
    const { clock, log, environment } = this.#dependencies;
    const { connect = (which: KubernetesApi) => openCluster(which, { environment, clock }) } =
      this.#dependencies;
    this.#connection = observeRequests(await connect(api), api, this.#dependencies);
    this.#watch = new ClusterWatch({
      connection: this.#connection,
      sinks: this.#sinks(),
      selection: { services: labels, namespaces: namespaceLabels, namesPods: endpointPodNames },
      clock,
      log: withoutNews(log),
    });
    this.#watch.start();
    await this.#firstState();
  }

  proceed(): void {
    this.#isToProceed = true;
    this.#endWait();
  }

  isReady(): boolean {
    return this.#cluster.hasBeenKnown;
  }

  async stop(): Promise<void> {
    await this.#watch?.stop();
    this.#connection?.close();
    this.#cluster.stop();
    const steps = this.#dependencies.table.dropPublication(this.#publication);
    while (steps.next().done !== true) await new Promise((resolve) => setImmediate(resolve));
  }

  #sinks(): ClusterSinks {
    const { services, endpoints, namespaces, pods } = this.#cluster;
    const { hasEndpoints, pods: podMode } = this.#options;
    const isHeadless = (namespace: string, name: string) => this.#cluster.isHeadless(namespace, name);
    return {
      ...{ services, namespaces },
      endpoints: hasEndpoints ? observeChanges(endpoints, { ...this.#dependencies, isHeadless }) : undefined,
      pods: podMode === 'verified' ? pods : undefined,
      markIncomplete: (isIncomplete) => this.#cluster.markIncomplete(isIncomplete),
    };
  }

  /** Resolves when all objects are listed, or the time to wait is over. */
  #firstState(): Promise<void> {
    const { clock, log } = this.#dependencies;
    return new Promise((resolve) => {
      const deadline = clock.after(this.#options.startupTimeout, () => {
        line.cancel();
        log.warn('plugin/kubernetes: starting server with unsynced Kubernetes API');
        resolve();
      });
      const tellLater = () => clock.after(WAIT_LINE, tell);
      const tell = () => {
        log.info('plugin/kubernetes: waiting for Kubernetes API before starting server');
        line = tellLater();
      };
      let line = tellLater();
      this.#endWait = () => {
        deadline.cancel();
        line.cancel();
        resolve();
      };
      this.#cluster.whenKnown(() => this.#endWait());
      if (this.#isToProceed) this.#endWait();
    });
  }
}

/**
 * Whether the table's nodes have all answers of the handler. All zones must be published, with all namespaces, and must not fall
 * through.
 *
 * @param published the zones whose names are nodes
 */
function isWholeInTable(options: KubernetesOptions, published: readonly NameKey[]): boolean {
  const { zones, primaryZone, namespaces, namespaceLabels, fallthrough } = options;
  const concernsCluster = (zone: NameKey) => isWithin(zone, primaryZone) || isWithin(primaryZone, zone);
  return (
    zones.every((zone) => published.includes(zone)) &&
    namespaces.length === 0 &&
    namespaceLabels === undefined &&
    !fallthrough.some(concernsCluster)
  );
}

/** Logs the info lines of the cluster's watch at level debug: in a Corefile, each info line would be printed. */
function withoutNews(log: Log): Log {
  return {
    error: (message, fields) => log.error(message, fields),
    warn: (message, fields) => log.warn(message, fields),
    info: (message, fields) => log.debug(message, fields),
    debug: (message, fields) => log.debug(message, fields),
  };
}
