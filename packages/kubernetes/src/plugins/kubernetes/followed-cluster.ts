/**
 * A cluster as `kubernetes` follows it: its objects, its watches and its snapshot. Plans that name the same cluster share it, so a
 * changed Corefile lists nothing again.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isWithin, ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Losses } from '@portolan/kernel/base/losses.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { Connection } from '../../api/connection/types.ts';
import { makeApiAccess } from '../../api/list-watch/api-access.ts';
import { findClusterIdentity } from '../../api/list-watch/cluster-identity.ts';
import { type ClusterSinks, ClusterWatch } from '../../api/list-watch/cluster-watch.ts';
import { followNodeRanges } from '../../api/list-watch/further-kinds.ts';
import type { Follower } from '../../api/list-watch/reflector.ts';
import { coreDns } from '../../dialects/coredns/dialect.ts';
import { EndpointZones } from '../../names/endpoint-zones.ts';
import { PodIdentities } from '../../names/pod-identities.ts';
import { PodSearches } from '../../names/pod-searches.ts';
import { REVERSE_TREES } from '../../names/reverse-name.ts';
import { bothSinks } from '../../objects/both-sinks.ts';
import type { ObjectSink, PodObject } from '../../objects/objects.ts';
import { Cluster } from '../../publish/cluster.ts';
import { joinSinks } from '../../publish/cluster-sinks.ts';
import { followedNode } from '../../publish/nodes-use.ts';
import type { SnapshotKeeper } from '../../snapshot/snapshot-keeper.ts';
import { observeRequests } from './api-requests.ts';
import { ClusterSet } from './cluster-set.ts';
import { keepSnapshot, restoreSnapshot } from './cluster-snapshot.ts';
import { ExternalServices } from './external-services.ts';
import type { InspectedCluster } from './inspected-cluster.ts';
import { openCluster } from './open-cluster.ts';
import type { KubernetesApi, KubernetesOptions } from './options.ts';
import { observeChanges } from './programming-latency.ts';

/** `searches`: how pods search for names. `identities`: which pod has an address. `external`: how services are reached from outside. */
export type ClusterNeed = 'searches' | 'identities' | 'external';

export interface FollowedClusterDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
  readonly table: TableWriter;
  /** Judges what the API server lacks. Default: everything goes at once. */
  readonly losses?: Losses;
  /** The deviations in which answers are those of CoreDNS. */
  readonly restored: RestoredDeviations;
  /** Addresses at which clients reach us. */
  readonly ownAddresses: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What other plugins of the block need of the cluster. Default: nothing. */
  readonly needs?: readonly ClusterNeed[];
  /** How the API server is reached. Default: by sockets. */
  readonly connect?: (api: KubernetesApi) => Promise<Connection>;
}

/** Replaces the root zone, in which the names of zones have no room. */
const ROOT_DOMAIN = 'root.invalid.' as NameKey; // Canonical by inspection.

export const isReverse = (zone: NameKey): boolean => REVERSE_TREES.some((tree) => isWithin(zone, tree));

export class FollowedCluster {
  readonly cluster: Cluster;
  readonly publication: PublicationId;
  /** The domain that the names of the cluster are derived for. */
  readonly domain: NameKey;
  /** The reverse zones whose names are published. */
  readonly reverseZones: readonly NameKey[];
  /** How pods search; undefined if no plugin needs it, or pods are not followed. */
  readonly searches: PodSearches | undefined;
  /** Which pod has an address; undefined if no plugin needs it, or pods are not followed. */
  readonly identities: PodIdentities | undefined;
  /** How services are reached from outside the cluster; undefined if no plugin needs it. */
  readonly external: ExternalServices | undefined;
  /** The services of a cluster set; undefined: there are no zones for them. */
  readonly clusterSet: ClusterSet | undefined;
  /** The zones of endpoints; undefined: no names need them. */
  readonly #zones: EndpointZones | undefined;
  readonly #options: KubernetesOptions;
  readonly #dependencies: FollowedClusterDependencies;
  readonly #identity: unknown;
  #users = 1;
  #begun: Promise<boolean> | undefined;
  #connection: Connection | undefined;
  #watch: ClusterWatch | undefined;
  #nodes: Follower | undefined;
  #snapshot: SnapshotKeeper | undefined;
  #isServing = false;

  /** @throws RangeError for a zone that leaves no room for services */
  constructor(options: KubernetesOptions, dependencies: FollowedClusterDependencies) {
    const { table, clock, log, ownAddresses, restored, needs = [], losses } = dependencies;
    const { pods, ttl, hasEndpoints, ignoresEmptyService, primaryZone, zones } = options;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#identity = toIdentity(options, dependencies);
    this.publication = table.definePublication();
    const [clusterSetZone] = options.multicluster;
    const isOfSet = options.multicluster.includes(primaryZone);
    this.domain = primaryZone === ROOT || isOfSet ? ROOT_DOMAIN : primaryZone;
    this.reverseZones = zones.filter((zone) => isReverse(zone) && zone !== this.domain);
    this.#zones = options.zonal ? new EndpointZones() : undefined;
    const { domain, reverseZones, publication } = this;
    const settings = {
      domain,
      dialect: coreDns,
      pods,
      ttl,
      reverseZones,
      ownAddresses,
      hasEndpoints,
      publication,
      ignoresEmptyServices: ignoresEmptyService,
      namesSpecialAddresses: restored.has('reverse-of-special-addresses'),
      endpointRanges: options.endpointRanges,
      nodes: options.nodes,
      hasHttpsRecords: options.hasHttpsRecords === true,
      tenants: options.tenants,
      losses,
      ...(this.#zones && { zones: this.#zones }),
    };
    this.cluster = new Cluster(settings, table, clock, withoutNews(log));
    const parts = { ...dependencies, log: withoutNews(log) };
    this.clusterSet =
      clusterSetZone === undefined
        ? undefined
        : new ClusterSet(clusterSetZone, options, { ...parts, tenants: this.cluster.tenants });
    const podNeeds = pods === 'verified' ? needs : [];
    this.searches = podNeeds.includes('searches') ? new PodSearches() : undefined;
    this.identities = podNeeds.includes('identities') ? new PodIdentities() : undefined;
    this.external = needs.includes('external') ? new ExternalServices(this.cluster, clock) : undefined;
  }

  /** Whether a plugin with these options would follow the same. */
  isFor(options: KubernetesOptions, dependencies: FollowedClusterDependencies): boolean {
    return isDeepStrictEqual(toIdentity(options, dependencies), this.#identity);
  }

  /** Adds a user, who must `release` it. */
  share(): this {
    this.#users += 1;
    return this;
  }

  /**
   * Begins to follow, once for all users.
   *
   * @returns whether it has the names of a snapshot
   * @throws ClusterNotFoundError, ClusterConfigurationError
   */
  begin(): Promise<boolean> {
    this.#begun ??= this.#begin();
    return this.#begun;
  }

  /**
   * Answers by these options from now on: those of a plan that shares it.
   *
   * @throws TableFullError and keeps the former options
   */
  follow({ ttl, ignoresEmptyService }: KubernetesOptions): void {
    for (const { cluster } of this.#published)
      cluster.change({ ttl, ignoresEmptyServices: ignoresEmptyService });
  }

  /** Queries are received now. */
  serving(): void {
    if (!this.#isServing) this.#snapshot?.start();
    this.#isServing = true;
  }

  /** Whether all zones may deny names. */
  get isKnown(): boolean {
    return this.#published.every(({ cluster }) => cluster.isKnown);
  }

  /** Calls `run` once when all zones have become known, at once if they are. */
  whenKnown(run: () => void): void {
    const [first, ...others] = this.#published.map(({ cluster }) => cluster);
    const next = others.reduceRight((then, cluster) => () => cluster.whenKnown(then), run);
    first?.whenKnown(next);
  }

  /** The clusters in the table, with their publications. */
  get #published(): readonly Pick<ClusterSet, 'cluster' | 'publication'>[] {
    return this.clusterSet === undefined ? [this] : [this, this.clusterSet];
  }

  /** How the API server is followed; undefined: it has not begun. */
  get status(): InspectedCluster['status'] {
    return this.#watch?.status();
  }

  /** Ends it with its last user. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    await this.#watch?.stop();
    await this.#nodes?.stop();
    await this.#snapshot?.stop();
    this.#connection?.close();
    const { table } = this.#dependencies;
    for (const { cluster, publication } of this.#published)
      for (const steps of [cluster.clear(), table.dropPublication(publication)])
        while (steps.next().done !== true) await new Promise((resolve) => setImmediate(resolve));
  }

  async #begin(): Promise<boolean> {
    const { api, labels, namespaceLabels, endpointPodNames, nodes } = this.#options;
    const { clock, log, environment } = this.#dependencies;
    const { connect = (which: KubernetesApi) => openCluster(which, { environment, clock }) } =
      this.#dependencies;
    this.#connection = observeRequests(await connect(api), api, this.#dependencies);
    this.#watch = new ClusterWatch({
      connection: this.#connection,
      sinks: this.#sinks(),
      selection: {
        services: labels,
        namespaces: namespaceLabels,
        readsLabels: this.cluster.tenants !== undefined,
        namesPods: endpointPodNames,
        readsWholePods: (this.searches ?? this.identities) !== undefined,
        readsPlaces: nodes?.prefersZone === true,
      },
      clock,
      log: withoutNews(log),
    });
    const isRestored = await this.#restore();
    this.#watch.start();
    this.#followNodes(this.#connection);
    return isRestored;
  }

  #followNodes(connection: Connection): void {
    const { nodes: use } = this.#options;
    const { nodes } = this.cluster;
    if (use === undefined || nodes === undefined) return;
    const { clock, log } = this.#dependencies;
    const api = makeApiAccess({ connection, clock, log: withoutNews(log) });
    this.#nodes = followNodeRanges(api, followedNode(use), nodes);
    this.#nodes.start();
  }

  /** @returns whether it has the names of a snapshot */
  async #restore(): Promise<boolean> {
    const { snapshot } = this.#options;
    const connection = this.#connection;
    if (snapshot === undefined || connection === undefined) return false;
    const { clock, log: loud } = this.#dependencies;
    const { cluster } = this;
    const log = withoutNews(loud);
    const api = makeApiAccess({ connection, clock, log });
    const source = describeSource(connection, this.#options);
    let identity: string | undefined;
    this.#snapshot = keepSnapshot({
      settings: { ...snapshot, maxAgeName: 'portolan { snapshot }' },
      owner: async () => {
        identity ??= await findClusterIdentity(api);
        return { domain: this.#options.primaryZone, source, cluster: identity };
      },
      age: () => this.#watch?.status().age,
      cluster,
      clock,
      log,
    });
    return await restoreSnapshot(this.#snapshot, cluster);
  }

  /** Those that the pods are also for. */
  get #podClaims(): readonly ObjectSink<PodObject>[] {
    return [this.searches, this.identities, this.cluster.tenants?.pods].filter(
      (claims) => claims !== undefined,
    );
  }

  #sinks(): ClusterSinks {
    const { tenants, neededKinds } = this.cluster;
    const services = joinSinks(this.cluster.services, tenants?.services);
    const imported = this.clusterSet?.cluster;
    const ofBoth = joinSinks(this.cluster.namespaces, imported?.namespaces);
    const namespaces = joinSinks(ofBoth, tenants?.namespaces);
    const endpoints = joinSinks(this.cluster.endpoints, this.#zones);
    const pods = this.#podClaims.reduce<ObjectSink<PodObject>>(
      bothSinks,
      joinSinks(this.cluster.pods, imported?.pods),
    );
    const { hasEndpoints } = this.#options;
    const isHeadless = (namespace: string, name: string) => this.cluster.isHeadless(namespace, name);
    return {
      services: this.external?.observe(services) ?? services,
      namespaces,
      endpoints: hasEndpoints ? observeChanges(endpoints, { ...this.#dependencies, isHeadless }) : undefined,
      pods: neededKinds.includes('Pod') ? pods : undefined,
      imports: imported && {
        services: imported.services,
        endpoints: hasEndpoints ? imported.endpoints : undefined,
      },
      markIncomplete: (isIncomplete) => this.cluster.markIncomplete(isIncomplete),
    };
  }
}

/** Other selectors select other objects. */
function describeSource({ server }: Connection, { labels, namespaceLabels }: KubernetesOptions): string {
  const selectors = [labels, namespaceLabels].flatMap((selector) => selector ?? []);
  return [server, ...selectors].join(' ');
}

/** What plans must have in common to share a cluster. A kubeconfig file may name another cluster than before. */
function toIdentity(
  options: KubernetesOptions,
  { ownAddresses, needs = [] }: FollowedClusterDependencies,
): unknown {
  const {
    fallthrough: _fallthrough,
    startupTimeout: _timeout,
    namespaces: _namespaces,
    ttl: _ttl,
    ignoresEmptyService: _ignoresEmptyService,
    ...followed
  } = options;
  const { kubeconfig } = options.api;
  return { followed, ownAddresses, needs, kubeconfig: kubeconfig && tryReadText(kubeconfig.path) };
}

function tryReadText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The start says what is wrong with it.
    return undefined;
  }
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
