/**
 * Where a cluster's objects come from, in one shape for the server: an API server, or a folder of manifests.
 */
import { resolve } from 'node:path';
import type { ObjectsPlan } from '../config/plan.ts';
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { findCluster, type NoCluster } from '../kube/connection/find-cluster.ts';
import type { Connection } from '../kube/connection/types.ts';
import { type ApiAccess, makeApiAccess } from '../kube/list-watch/api-access.ts';
import {
  type ClusterSinks,
  ClusterWatch,
  type ClusterWatchOptions,
} from '../kube/list-watch/cluster-watch.ts';
import { followConfigMap, followNodes } from '../kube/list-watch/further-kinds.ts';
import type { Follower, KindStatus } from '../kube/list-watch/reflector.ts';
import type { ConfigMapObject, NodeObject, ObjectSink } from '../kube/objects.ts';
import type { ManifestFigures, WatchFigures } from '../observe/figures.ts';
import type { ManifestSource } from '../sources/manifests/manifest-source.ts';

/** What a source needs to know of the world around the program. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's home folder; undefined if there is none. */
  readonly home: string | undefined;
  /** The folder of the bundled example cluster. */
  readonly exampleFolder: string;
  readonly clock: Clock;
  readonly log: Log;
}

export type EndpointsFrom = ClusterWatchOptions['endpointsFrom'];

export interface SourceStatus {
  /** Everything was listed at least once. */
  readonly synced: boolean;
  /** Milliseconds since the data was last proven current; undefined until it is synced, and where there is no proof. */
  readonly age: number | undefined;
  /** What is missing or cannot be followed now, in words; empty when all is well. */
  readonly reasons: readonly string[];
  readonly watches: readonly WatchFigures[];
  readonly manifests: ManifestFigures | undefined;
}

export interface ObjectSource {
  /** The API server's address, or the folder: for people, and for the snapshot to know its own cluster by. */
  readonly name: string;
  /** Begins to fill the sinks, and to follow changes. */
  start(sinks: ClusterSinks): Promise<void>;
  status(): SourceStatus;
  /** Begins to follow one ConfigMap; nothing where there is no API server. */
  followConfigMap(namespace: string, name: string, sink: ObjectSink<ConfigMapObject>): Following | undefined;
  /** Begins to follow all nodes; nothing where there are none. */
  followNodes(sink: ObjectSink<NodeObject>): Following | undefined;
  /** What was begun by others must be stopped before. */
  stop(): Promise<void>;
}

/** A kind of object that is followed beside those that names are made from: nobody waits for it. */
export interface Following {
  status(): WatchFigures;
  stop(): Promise<void>;
}

/** There is nothing to serve. A server that made names up would do more harm than none. */
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
export async function openObjectSource(
  plan: ObjectsPlan,
  endpointsFrom: EndpointsFrom,
  surroundings: Surroundings,
): Promise<ObjectSource> {
  const { environment, home, exampleFolder, clock, log } = surroundings;
  if (plan.kind === 'manifests') return new FolderOfManifests(resolve(plan.directory), clock, log);
  if (plan.kind === 'example') return new FolderOfManifests(exampleFolder, clock, log);
  const { kubecfgFile, context, masterUrl } = plan;
  const found = await findCluster({ kubecfgFile, context, masterUrl, environment, home, clock });
  if (found.kind === 'none') throw new NoClusterError(found);
  return new ApiServer(found, endpointsFrom, clock, log);
}

class ApiServer implements ObjectSource {
  readonly name: string;
  readonly #connection: Connection;
  readonly #endpointsFrom: EndpointsFrom;
  readonly #clock: Clock;
  readonly #log: Log;
  #watch: ClusterWatch | undefined;

  constructor(connection: Connection, endpointsFrom: EndpointsFrom, clock: Clock, log: Log) {
    this.name = connection.server;
    this.#connection = connection;
    this.#endpointsFrom = endpointsFrom;
    this.#clock = clock;
    this.#log = log;
    log.info('cluster found', { server: connection.server, source: connection.source });
  }

  get #api(): ApiAccess {
    return makeApiAccess({ connection: this.#connection, clock: this.#clock, log: this.#log });
  }

  async start(sinks: ClusterSinks): Promise<void> {
    this.#watch = new ClusterWatch({
      connection: this.#connection,
      sinks,
      endpointsFrom: this.#endpointsFrom,
      clock: this.#clock,
      log: this.#log,
    });
    this.#watch.start();
  }

  followConfigMap(namespace: string, name: string, sink: ObjectSink<ConfigMapObject>): Following {
    return started(followConfigMap(this.#api, namespace, name, sink));
  }

  followNodes(sink: ObjectSink<NodeObject>): Following {
    return started(followNodes(this.#api, sink));
  }

  status(): SourceStatus {
    const status = this.#watch?.status();
    if (status === undefined)
      return { synced: false, age: undefined, reasons: ['not started'], watches: [], manifests: undefined };
    const watches = status.kinds.map(figuresOf);
    return { synced: status.synced, age: status.age, reasons: status.reasons, watches, manifests: undefined };
  }

  async stop(): Promise<void> {
    await this.#watch?.stop();
    this.#connection.close();
  }
}

function started(follower: Follower): Following {
  follower.start();
  return { status: () => figuresOf(follower.status()), stop: () => follower.stop() };
}

function figuresOf(status: KindStatus): WatchFigures {
  return { ...status, state: status.state.kind };
}

class FolderOfManifests implements ObjectSource {
  readonly name: string;
  readonly #clock: Clock;
  readonly #log: Log;
  #source: ManifestSource | undefined;
  #listed = false;

  constructor(folder: string, clock: Clock, log: Log) {
    this.name = folder;
    this.#clock = clock;
    this.#log = log;
  }

  async start(sinks: ClusterSinks): Promise<void> {
    // Reading YAML takes memory that a server with an API server has better uses for.
    const { ManifestSource } = await import('../sources/manifests/manifest-source.ts');
    this.#source = new ManifestSource({ folder: this.name, sinks, clock: this.#clock, log: this.#log });
    await this.#source.start();
    this.#listed = true;
  }

  status(): SourceStatus {
    const synced = this.#listed;
    return {
      synced,
      // Nobody but the folder knows better, and it is what is served.
      age: undefined,
      reasons: synced ? [] : [`manifests: still reading ${this.name}`],
      watches: [],
      manifests: this.#source?.status(),
    };
  }

  followConfigMap(): undefined {}

  followNodes(): undefined {}

  async stop(): Promise<void> {
    this.#source?.stop();
  }
}
