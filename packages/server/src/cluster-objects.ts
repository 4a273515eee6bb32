/**
 * Carries the objects of a cluster from their source to the engine. Serves the snapshot until they are listed, and reports slow lists.
 */
import type { Timer } from '@portolan/kernel/base/clock.ts';
import { formatDuration, formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { Engine } from '@portolan/kernel/engine/engine.ts';
import type { WatchStats } from '@portolan/kubernetes/api/list-watch/state.ts';
import { FederationZones } from '@portolan/kubernetes/plugins/federations/federation-zones.ts';
import { keepSnapshot, restoreSnapshot } from '@portolan/kubernetes/plugins/kubernetes/cluster-snapshot.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { toClusterSinks } from '@portolan/kubernetes/publish/cluster-sinks.ts';
import { followedNode } from '@portolan/kubernetes/publish/nodes-use.ts';
import type { SnapshotKeeper } from '@portolan/kubernetes/snapshot/snapshot-keeper.ts';
import type { Dependencies, Following, ObjectSource, SourceStatus } from './object-source.ts';
import type { Stats } from './observe/stats.ts';
import type { ClusterObjectsPlan } from './plan/server-plan.ts';

export class ClusterObjects {
  readonly #plan: ClusterObjectsPlan;
  readonly #engine: Engine;
  readonly #cluster: Cluster;
  readonly #dependencies: Dependencies;
  #source: ObjectSource | undefined;
  #snapshot: SnapshotKeeper | undefined;
  #syncTimer: Timer | undefined;
  #nodes: Following | undefined;

  constructor(plan: ClusterObjectsPlan, engine: Engine, cluster: Cluster, dependencies: Dependencies) {
    this.#plan = plan;
    this.#engine = engine;
    this.#cluster = cluster;
    this.#dependencies = dependencies;
  }

  /** Whether all objects are listed and their names published. Stays true. */
  get isKnown(): boolean {
    return this.#cluster.hasBeenKnown;
  }

  /** The zone as a tree in kube-dns's format, as JSON in pieces. */
  cacheTree(): Iterable<string> {
    return this.#cluster.cacheTree();
  }

  status(): SourceStatus | undefined {
    return this.#source?.status();
  }

  stats(): Pick<Stats, 'dataAge' | 'snapshot' | 'manifests' | 'watches'> {
    const status = this.#source?.status();
    return {
      dataAge: status?.age,
      watches: [...(status?.watches ?? []), ...this.#nodeWatches()],
      snapshot: this.#snapshot?.count(),
      manifests: status?.manifests,
    };
  }

  /** Finds the source and restores the snapshot if there is one. @throws NoClusterError, ClusterConfigurationError */
  async open(): Promise<ObjectSource> {
    // Front ends without a cluster do not load the code of connections and TLS.
    const { openObjectSource } = await import('./object-source.ts');
    const source = await openObjectSource(this.#plan.source, this.#dependencies);
    this.#source = source;
    await this.#restore(source);
    return source;
  }

  /** Starts to list and watch the objects. */
  async start(): Promise<void> {
    const { nodes, nodesUse, tenants } = this.#cluster;
    await this.#source?.start(toClusterSinks(this.#cluster), {
      readsPlaces: nodesUse?.prefersZone === true,
      readsLabels: tenants !== undefined,
    });
    if (nodes !== undefined && nodesUse !== undefined)
      this.#nodes = this.#source?.followNodeRanges(followedNode(nodesUse), nodes);
    this.#reportSync();
  }

  /** Call this when queries are answered. */
  serving(): void {
    this.#snapshot?.start();
  }

  whenKnown(run: () => void): void {
    this.#cluster.whenKnown(run);
  }

  async stop(): Promise<void> {
    this.#syncTimer?.cancel();
    await this.#engine.find(FederationZones)?.leaveNodes();
    await this.#nodes?.stop();
    await this.#source?.stop();
    await this.#snapshot?.stop();
  }

  #nodeWatches(): readonly WatchStats[] {
    const followings = [this.#engine.find(FederationZones)?.following, this.#nodes];
    return followings.flatMap((following) => following?.status() ?? []);
  }

  async #restore(source: ObjectSource): Promise<void> {
    const { snapshotFile, snapshotMaxAge } = this.#plan;
    const { clock, log } = this.#dependencies;
    if (snapshotFile === undefined) return;
    const cluster = this.#cluster;
    this.#snapshot = keepSnapshot({
      settings: { file: snapshotFile, maxAge: snapshotMaxAge, maxAgeName: '--snapshot-max-age' },
      owner: async () => ({
        domain: cluster.names.domain,
        source: source.name,
        cluster: await source.findIdentity(),
      }),
      // A folder has no age: its contents are always current.
      age: () => source.status().age ?? 0,
      cluster,
      clock,
      log,
    });
    await restoreSnapshot(this.#snapshot, cluster);
  }

  /** Logs an error if the cluster is not listed in time, and keeps waiting. */
  #reportSync(): void {
    const { clock, log } = this.#dependencies;
    const { initialSyncTimeout } = this.#plan;
    const began = clock.monotonic();
    this.#syncTimer = clock.after(initialSyncTimeout, () => {
      const reason = this.#source?.status().reasons.join('; ');
      const after = formatDuration(initialSyncTimeout);
      log.error('initial sync timed out; serving cached state', { after, reason });
    });
    this.#cluster.whenKnown(() => {
      this.#syncTimer?.cancel();
      const { kinds } = this.#cluster.state();
      log.info('cluster listed', {
        after: formatElapsed(clock.monotonic() - began),
        services: kinds.get('Service')?.count,
        slices: kinds.get('Endpoints')?.count,
      });
    });
  }
}
