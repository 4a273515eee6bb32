/**
 * The sources of a cluster's objects behind one interface: an API server, or a folder of manifests.
 */
import { resolve } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { findCluster, type NoCluster } from '@portolan/kubernetes/api/connection/find-cluster.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { type ApiAccess, makeApiAccess } from '@portolan/kubernetes/api/list-watch/api-access.ts';
import { findClusterIdentity } from '@portolan/kubernetes/api/list-watch/cluster-identity.ts';
import {
  type ClusterSinks,
  ClusterWatch,
  type ObjectSelection,
} from '@portolan/kubernetes/api/list-watch/cluster-watch.ts';
import {
  followConfigMap,
  followNodeRanges,
  followNodes,
} from '@portolan/kubernetes/api/list-watch/further-kinds.ts';
import type { Follower, KindStatus } from '@portolan/kubernetes/api/list-watch/reflector.ts';
import type { WatchState, WatchStats } from '@portolan/kubernetes/api/list-watch/state.ts';
import type { ManifestSource } from '@portolan/kubernetes/manifests/manifest-source.ts';
import type {
  ConfigMapObject,
  NodeObject,
  NodeRangesObject,
  ObjectSink,
} from '@portolan/kubernetes/objects/objects.ts';
import type { ManifestStats } from './observe/stats.ts';
import type { ObjectsPlan } from './plan/server-plan.ts';

/** The inputs of a source from the process environment. */
export interface Dependencies {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's home directory; undefined if there is none. */
  readonly home: string | undefined;
  /** The folder of the bundled example cluster. */
  readonly exampleFolder: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SourceStatus {
  /** Whether everything was listed at least once. */
  readonly synced: boolean;
  /** Milliseconds since the data was last known to be current; undefined before the first sync, and for sources without proof. */
  readonly age: number | undefined;
  /** What is missing or cannot be followed now, in words; empty if all is well. */
  readonly reasons: readonly string[];
  /** What has not been heard of for too long, in words. */
  readonly silences?: readonly string[];
  readonly watches: readonly WatchStats[];
  readonly manifests: ManifestStats | undefined;
}

export interface ObjectSource {
  /** The API server's address, or the folder: for messages, and to match a snapshot with its cluster. */
  readonly name: string;
  /** The UID of the namespace `kube-system`; undefined while unknown. Never rejects. */
  findIdentity(): Promise<string | undefined>;
  /** Starts to fill the sinks and to follow changes. */
  start(sinks: ClusterSinks, selection?: ObjectSelection): Promise<void>;
  status(): SourceStatus;
  /** Starts to follow one ConfigMap; undefined without an API server. */
  followConfigMap(namespace: string, name: string, sink: ObjectSink<ConfigMapObject>): Following | undefined;
  /** Starts to follow the ranges of nodes; undefined if the source has none. @param name the only node; undefined: all */
  followNodeRanges(name: string | undefined, sink: ObjectSink<NodeRangesObject>): Following | undefined;
  /** Starts to follow all nodes; undefined if the source has none. */
  followNodes(sink: ObjectSink<NodeObject>): Following | undefined;
  /** Stop all `Following` objects before this. */
  stop(): Promise<void>;
}

/** A followed kind of object that names do not depend on; the start does not wait for it. */
export interface Following {
  status(): WatchStats;
  /** Whether the server denies access or lacks the kind, so that waiting is pointless. */
  isRefused(): boolean;
  stop(): Promise<void>;
}

/** There is no cluster to serve. Invented names would do more harm than no server. */
export class NoClusterError extends Error {
  override readonly name = 'NoClusterError';
  readonly lookedFor: readonly string[];

  constructor({ lookedFor }: NoCluster) {
    const places = lookedFor.map((place) => `\n  ${place}`).join('');
    super(
      `no cluster found, looked for:${places}\n` +
        'Run it in a pod, name a kubeconfig file with --kubecfg-file or an API server with --kube-master-url; ' +
        'or serve files with --manifests or --example.',
    );
    this.lookedFor = lookedFor;
  }
}

/** @throws NoClusterError, ClusterConfigurationError */
export async function openObjectSource(plan: ObjectsPlan, dependencies: Dependencies): Promise<ObjectSource> {
  const { environment, home, exampleFolder, clock, log } = dependencies;
  if (plan.kind === 'manifests')
    return new FolderOfManifests(resolve(plan.directory), plan.allowEmpty, clock, log);
  if (plan.kind === 'example') return new FolderOfManifests(exampleFolder, false, clock, log);
  const { kubecfgFile, context, masterUrl } = plan;
  const found = await findCluster({ kubecfgFile, context, masterUrl, environment, home, clock });
  if (found.kind === 'none') throw new NoClusterError(found);
  return new ApiServer(found, clock, log);
}

class ApiServer implements ObjectSource {
  readonly name: string;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #log: Log;
  #watch: ClusterWatch | undefined;
  #identity: string | undefined;

  constructor(connection: Connection, clock: Clock, log: Log) {
    this.name = connection.server;
    this.#connection = connection;
    this.#clock = clock;
    this.#log = log;
    log.info('cluster found', { server: connection.server, source: connection.source });
  }

  get #api(): ApiAccess {
    return makeApiAccess({ connection: this.#connection, clock: this.#clock, log: this.#log });
  }

  async start(sinks: ClusterSinks, selection: ObjectSelection = {}): Promise<void> {
    this.#watch = new ClusterWatch({
      connection: this.#connection,
      sinks,
      selection,
      clock: this.#clock,
      log: this.#log,
    });
    this.#watch.start();
  }

  async findIdentity(): Promise<string | undefined> {
    this.#identity ??= await findClusterIdentity(this.#api);
    return this.#identity;
  }

  followConfigMap(namespace: string, name: string, sink: ObjectSink<ConfigMapObject>): Following {
    return started(followConfigMap(this.#api, namespace, name, sink));
  }

  followNodeRanges(name: string | undefined, sink: ObjectSink<NodeRangesObject>): Following {
    return started(followNodeRanges(this.#api, name, sink));
  }

  followNodes(sink: ObjectSink<NodeObject>): Following {
    return started(followNodes(this.#api, sink));
  }

  status(): SourceStatus {
    const status = this.#watch?.status();
    if (status === undefined)
      return { synced: false, age: undefined, reasons: ['not started'], watches: [], manifests: undefined };
    const watches = status.kinds.map(toWatchStats);
    const { synced, age, reasons, silences } = status;
    return { synced, age, reasons, silences, watches, manifests: undefined };
  }

  async stop(): Promise<void> {
    await this.#watch?.stop();
    this.#connection.close();
  }
}

function started(follower: Follower): Following {
  follower.start();
  return {
    status: () => toWatchStats(follower.status()),
    isRefused: () => isRefused(follower.status().state),
    stop: () => follower.stop(),
  };
}

function isRefused(state: WatchState): boolean {
  if (state.kind !== 'waiting') return false;
  return state.reason.kind === 'permission' || state.reason.kind === 'missing-kind';
}

function toWatchStats(status: KindStatus): WatchStats {
  return { ...status, state: status.state.kind };
}

class FolderOfManifests implements ObjectSource {
  readonly name: string;
  readonly #allowEmpty: boolean;
  readonly #clock: Clock;
  readonly #log: Log;
  #source: ManifestSource | undefined;
  #listed = false;

  constructor(folder: string, allowEmpty: boolean, clock: Clock, log: Log) {
    this.name = folder;
    this.#allowEmpty = allowEmpty;
    this.#clock = clock;
    this.#log = log;
  }

  async start(sinks: ClusterSinks): Promise<void> {
    // Loaded late: a server with an API server does not need the memory of a YAML parser.
    const { ManifestSource } = await import('@portolan/kubernetes/manifests/manifest-source.ts');
    this.#source = new ManifestSource({
      folder: this.name,
      allowEmpty: this.#allowEmpty,
      sinks,
      clock: this.#clock,
      log: this.#log,
    });
    await this.#source.start();
    this.#listed = true;
  }

  status(): SourceStatus {
    const synced = this.#listed;
    return {
      synced,
      // The folder is the only source, so its data is always current.
      age: undefined,
      reasons: synced ? (this.#source?.status().missing ?? []) : [`manifests: still reading ${this.name}`],
      watches: [],
      manifests: this.#source?.status(),
    };
  }

  async findIdentity(): Promise<undefined> {}

  followConfigMap(): undefined {}

  followNodeRanges(): undefined {}

  followNodes(): undefined {}

  async stop(): Promise<void> {
    this.#source?.stop();
  }
}
