/**
 * `kubernetes` of a Corefile: follows a cluster, and answers for its names.
 */
import { isWithin } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { AnswerTtlBounds, Chain, Handler } from '@portolan/kernel/chain/handler.ts';
import { namesWithin } from '@portolan/kernel/chain/match.ts';
import type { FactSource } from '@portolan/kernel/chain/query.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import { ChangeNotices } from '@portolan/plugins/transfer/change-notices.ts';
import type { TransferableZone, TransferSource } from '@portolan/plugins/transfer/transfer-source.ts';
import type { PodSearches } from '../../names/pod-searches.ts';
import type { Cluster } from '../../publish/cluster.ts';
import type { ClusterSet } from './cluster-set.ts';
import { ClusterZones } from './cluster-zones.ts';
import type { ExternalServices } from './external-services.ts';
import { FollowedCluster, type FollowedClusterDependencies, isReverse } from './followed-cluster.ts';
import { inspectCluster } from './inspected-cluster.ts';
import type { KubernetesOptions } from './options.ts';
import { QueryFacts } from './query-facts.ts';

export interface KubernetesDependencies extends FollowedClusterDependencies {
  /** The whole server. */
  readonly chain: Chain;
  /** Whether clients wait for its start. Default: yes. */
  readonly isFirst?: boolean;
  /** Called for each zone of services when it has changed, at most once in 5 s. Default: nobody asks. */
  readonly onChange?: (zone: NameKey) => void;
}

/** The cluster as `k8s_external` uses it. */
export interface ExposedCluster {
  readonly cluster: Cluster;
  readonly services: ExternalServices;
  /** Seconds. */
  readonly ttl: number;
  /** The namespaces whose services have names; empty: all that exist. */
  readonly namespaces: readonly string[];
  readonly ownAddresses: readonly string[];
}

/** Milliseconds between two log lines while the start waits. */
const WAIT_LINE = 500;
/** Milliseconds that a changed Corefile waits for its cluster at least: until then the former one answers, and nobody misses a name. */
const CHANGE_WAIT = 30_000;

export class Kubernetes implements Plugin, TransferSource {
  readonly handler: Handler;
  /** For `metadata`. */
  readonly facts: FactSource;
  readonly #options: KubernetesOptions;
  readonly #dependencies: KubernetesDependencies;
  readonly #followed: FollowedCluster;
  readonly #zones: ClusterZones;
  readonly #notices: ChangeNotices;
  #isToProceed = false;
  #endWait: () => void = () => {};
  #unfollow: () => void = () => {};

  /**
   * @param former shares its cluster if the options name the same
   * @throws RangeError for a zone that leaves no room for services
   */
  constructor(options: KubernetesOptions, dependencies: KubernetesDependencies, former?: Kubernetes) {
    const { chain, restored } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#notices = new ChangeNotices(dependencies.clock, () => {
      for (const zone of this.origins()) dependencies.onChange?.(zone);
    });
    const known = former?.followed;
    this.#followed =
      known?.isFor(options, dependencies) === true
        ? known.share()
        : new FollowedCluster(options, withoutPlan(dependencies));
    const { domain, reverseZones, publication, clusterSet } = this.#followed;
    this.facts = new QueryFacts(options.zones, this.#followed.identities, restored, options.zonal);
    const own = options.zones.filter((zone) => !options.multicluster.includes(zone));
    const makeClusterZones = (zones: readonly NameKey[], followed: FollowedCluster | ClusterSet) =>
      new ClusterZones({
        options: { ...options, zones },
        chain,
        restored,
        cluster: followed.cluster,
        domain: followed.domain,
      });
    const zones = makeClusterZones(own, this.#followed);
    const ofSet = clusterSet && makeClusterZones(options.multicluster, clusterSet);
    this.#zones = zones;
    const isOfSet = namesOfZones(options.multicluster, options.zones);
    const handle: Handler['handle'] = (query, next) =>
      (ofSet !== undefined && isOfSet(query.key) ? ofSet : zones).handle(query, next);
    const parts = {
      name: 'kubernetes',
      explainedBy: 'cluster',
      questions: namesWithin(new Set(options.zones)),
      answers: 'unchanged',
      handle,
    } satisfies Omit<Handler, 'role'>;
    const published = [domain, ...reverseZones, ...(clusterSet ? [clusterSet.domain] : [])];
    const further = clusterSet ? [clusterSet.publication] : [];
    const unpublished = namesWithin(new Set(options.fallthrough));
    this.handler = isWholeInTable(options, published)
      ? {
          ...parts,
          role: 'publisher',
          publication,
          further,
          unpublished,
          keepsTtls: (bounds) => isWithinBounds(options.ttl, bounds),
        }
      : {
          ...parts,
          role: 'other',
          handle(query, next) {
            // The answer depends on data that is in no publication of the block.
            if (parts.questions.includes(query.key, query.question.type)) query.forbidStoring();
            return handle(query, next);
          },
        };
  }

  /** For the plugin of the next plan. */
  get followed(): FollowedCluster {
    return this.#followed;
  }

  /** Begins to follow the cluster, and waits for its first state. @throws ClusterNotFoundError, ClusterConfigurationError */
  async start(): Promise<void> {
    if (this.#dependencies.onChange !== undefined)
      this.#unfollow = this.#followed.cluster.onChange(() => this.#notices.changed());
    const isRestored = await this.#followed.begin();
    if (this.#followed.isKnown) return;
    if (!isRestored || this.#dependencies.isFirst === false) await this.#firstState();
  }

  /** Whether the cluster has been listed. */
  get isKnown(): boolean {
    return this.#followed.isKnown;
  }

  /** How pods search; undefined: the cluster is followed without it. */
  get searches(): PodSearches | undefined {
    return this.#followed.searches;
  }

  /** The zones with the names of the cluster's own services. */
  get serviceZones(): readonly NameKey[] {
    const { zones, multicluster } = this.#options;
    return zones.filter((zone) => !isReverse(zone) && !multicluster.includes(zone));
  }

  origins(): Iterable<NameKey> {
    return this.serviceZones;
  }

  zoneAt(origin: NameKey, client: string): TransferableZone | undefined {
    return this.#zones.zoneAt(origin, client);
  }

  /** Whether a service exists, whatever its endpoints. */
  hasService(namespace: string, name: string): boolean {
    return this.#followed.cluster.contents.service(namespace, name) !== undefined;
  }

  /** Whether each client sees only some of the services. */
  get hasTenants(): boolean {
    return this.#options.tenants !== undefined;
  }

  /** How services are reached from outside the cluster; undefined: the cluster is followed without it. */
  get exposed(): ExposedCluster | undefined {
    const { cluster, external } = this.#followed;
    const { ttl, namespaces } = this.#options;
    const { ownAddresses } = this.#dependencies;
    return external && { cluster, services: external, ttl, namespaces, ownAddresses };
  }

  /** Applies what may differ from the former plan's. */
  follow(): void {
    this.#followed.follow(this.#options);
  }

  /** Queries are received now. */
  serving(): void {
    this.#followed.serving();
  }

  inspect(): PluginInspection {
    const { cluster, status } = this.#followed;
    const { pods, namespaces, ignoresEmptyService: ignoresEmptyServices } = this.#options;
    const rules = { pods, namespaces, ignoresEmptyServices };
    return inspectCluster({ cluster, followedBy: 'plugin', status, rules });
  }

  proceed(): void {
    this.#isToProceed = true;
    this.#endWait();
  }

  isReady(): boolean {
    return this.#followed.cluster.hasBeenKnown;
  }

  async stop(): Promise<void> {
    this.#unfollow();
    this.#notices.stop();
    await this.#followed.release();
  }

  /** Milliseconds that the start waits for the first state. */
  get #patience(): number {
    const { isFirst = true, restored } = this.#dependencies;
    const { startupTimeout } = this.#options;
    const isShort = isFirst || restored.has('reload-waits');
    return isShort ? startupTimeout : Math.max(startupTimeout, CHANGE_WAIT);
  }

  /** Resolves when all objects are listed, or the time to wait is over. */
  #firstState(): Promise<void> {
    const { clock, log } = this.#dependencies;
    return new Promise((resolve) => {
      const deadline = clock.after(this.#patience, () => {
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
      this.#followed.whenKnown(() => this.#endWait());
      if (this.#isToProceed) this.#endWait();
    });
  }
}

/** What a cluster needs that outlives its first plan. The rest would keep that plan in memory. */
function withoutPlan(dependencies: FollowedClusterDependencies): FollowedClusterDependencies {
  const {
    clock,
    log,
    metrics,
    table,
    losses,
    ownAddresses,
    environment,
    restored,
    needs = [],
    connect,
  } = dependencies;
  return {
    clock,
    log,
    metrics,
    table,
    ownAddresses,
    environment,
    restored,
    needs,
    ...(losses && { losses }),
    ...(connect && { connect }),
  };
}

/** Whether the longest zone that has a name is one of these. @param zones with all others */
function namesOfZones(these: readonly NameKey[], zones: readonly NameKey[]): (name: NameKey) => boolean {
  const longest = [...zones].sort((one, other) => other.length - one.length);
  return (name) => {
    const zone = longest.find((each) => isWithin(name, each));
    return zone !== undefined && these.includes(zone);
  };
}

/**
 * Whether the table's nodes have all answers of the handler. All zones must be published, with all namespaces, and must not fall
 * through.
 *
 * @param published the zones whose names are nodes
 */
function isWholeInTable(options: KubernetesOptions, published: readonly NameKey[]): boolean {
  const { zones, primaryZone, multicluster, namespaces, namespaceLabels, fallthrough, tenants } = options;
  const concernsCluster = (zone: NameKey) =>
    [primaryZone, ...multicluster].some((own) => isWithin(zone, own) || isWithin(own, zone));
  return (
    zones.every((zone) => published.includes(zone)) &&
    namespaces.length === 0 &&
    namespaceLabels === undefined &&
    tenants === undefined &&
    !fallthrough.some(concernsCluster)
  );
}

/** @param ttl seconds */
function isWithinBounds(ttl: number, { success, denial }: AnswerTtlBounds): boolean {
  return [success, denial].every(({ minTtl, maxTtl }) => minTtl <= ttl && ttl <= maxTtl);
}
