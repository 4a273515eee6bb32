/**
 * All kinds of object that DNS needs, followed together.
 */
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type {
  EndpointsObject,
  NamespaceObject,
  ObjectSink,
  PodObject,
  ServiceObject,
  WatchedObject,
} from '../../objects/objects.ts';
import { IMPORTED_SERVICE } from '../../objects/trim/trim-multicluster.ts';
import { type ApiAccess, type ApiOptions, makeApiAccess } from './api-access.ts';
import { type Follower, type KindStatus, Reflector } from './reflector.ts';
import {
  type ApiVersions,
  draftVersions,
  endpointsOfPodsVersions,
  endpointsVersions,
  importedEndpointsVersions,
  labelledNamespaceVersions,
  namespaceVersions,
  placedVersions,
  podVersions,
  selectVersions,
  serviceImportVersions,
  serviceVersions,
  wholePodVersions,
} from './resource.ts';
import type { WatchState } from './state.ts';

/** A kind without a sink is not asked for. */
export interface ClusterSinks {
  readonly services: ObjectSink<ServiceObject>;
  readonly endpoints?: ObjectSink<EndpointsObject> | undefined;
  readonly namespaces?: ObjectSink<NamespaceObject> | undefined;
  readonly pods?: ObjectSink<PodObject> | undefined;
  /** What is imported from a cluster set. */
  readonly imports?: ImportSinks | undefined;
  /** Called with true while the source knows of objects that it cannot read: missing names may then exist. */
  readonly markIncomplete?: ((isIncomplete: boolean) => void) | undefined;
}

export interface ImportSinks {
  readonly services: ObjectSink<ServiceObject>;
  readonly endpoints: ObjectSink<EndpointsObject> | undefined;
}

export interface ClusterWatchOptions extends ApiOptions {
  readonly sinks: ClusterSinks;
  /** Which of the objects are followed. Default: all. */
  readonly selection?: ObjectSelection;
}

export interface ObjectSelection {
  /** A label selector for services and their endpoints. */
  readonly services?: string | undefined;
  /** A label selector for namespaces. */
  readonly namespaces?: string | undefined;
  /** Whether namespaces are read with their labels. Default: no. */
  readonly readsLabels?: boolean;
  /** Whether endpoints without a hostname are named after their pods. */
  readonly namesPods?: boolean;
  /** Whether pods are read with their search domains and labels. Default: no. */
  readonly readsWholePods?: boolean;
  /** Whether the zones and nodes of endpoints are read. Default: no. */
  readonly readsPlaces?: boolean;
}

export interface ClusterWatchStatus {
  /** Every kind was listed completely at least once. Here and in `age`, imports of a cluster set do not count. */
  readonly synced: boolean;
  /** Milliseconds since the oldest of the kinds was last known to be current; undefined until all are synced. */
  readonly age: number | undefined;
  readonly kinds: readonly KindStatus[];
  /** For people: each kind that is not synced, or cannot be followed now, and why. Empty when all is well. */
  readonly reasons: readonly string[];
  /** For people: each kind of which nothing was heard for too long, and for how long. Empty when all is well. */
  readonly silences: readonly string[];
}

export class ClusterWatch {
  readonly #followers: readonly Follower[];
  /** The cluster's own names do not depend on these. */
  readonly #imports: readonly Follower[];
  readonly #listeners = new Set<() => void>();

  constructor(options: ClusterWatchOptions) {
    const api = makeApiAccess(options);
    const { services, endpoints, namespaces, pods, imports } = options.sinks;
    const selection = options.selection ?? {};
    const ofEndpoints = selectEndpoints(selection);
    const ofNamespaces = selection.readsLabels === true ? labelledNamespaceVersions : namespaceVersions;
    const ofPods = selection.readsWholePods === true ? wholePodVersions : podVersions;
    this.#followers = [
      this.#follow('services', selectVersions(serviceVersions, selection.services), services, api),
      this.#follow('endpoints', selectVersions(ofEndpoints, selection.services), endpoints, api),
      this.#follow('namespaces', selectVersions(ofNamespaces, selection.namespaces), namespaces, api),
      this.#follow('pods', ofPods, pods, api),
    ].filter((follower) => follower !== undefined);
    this.#imports = [
      this.#follow('service imports', serviceImportVersions, imports?.services, api),
      this.#follow('imported endpoints', importedVersions(selection), imports?.endpoints, api),
    ].filter((follower) => follower !== undefined);
  }

  start(): void {
    for (const follower of this.#all) follower.start();
  }

  /** Ends all watches. After the promise resolves, which is soon, no sink is called. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((follower) => follower.stop()));
  }

  get #all(): readonly Follower[] {
    return [...this.#followers, ...this.#imports];
  }

  status(): ClusterWatchStatus {
    const own = this.#followers.map((follower) => follower.status());
    const kinds = [...own, ...this.#imports.map((follower) => follower.status())];
    const synced = own.every((kind) => kind.synced);
    const ages = own.flatMap((kind) => kind.age ?? []);
    const troubled = kinds.filter((kind) => !kind.synced || isTroubled(kind.state));
    return {
      synced,
      age: synced ? Math.max(...ages) : undefined,
      kinds,
      reasons: troubled.map((kind) => `${kind.title}: ${kind.words}`),
      silences: kinds.flatMap(({ title, silence, words }) =>
        silence === undefined
          ? []
          : [`${title}: nothing heard from the API server for ${formatElapsed(silence)}: ${words}`],
      ),
    };
  }

  /**
   * Calls `listener` after each change of the state of a watch, not after each event.
   * @returns a function that removes the listener
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #follow<Kind extends WatchedObject>(
    title: string,
    versions: ApiVersions<Kind>,
    sink: ObjectSink<Kind> | undefined,
    api: ApiAccess,
  ): Follower | undefined {
    if (sink === undefined) return undefined;
    const read = sink.takesDrafts === true ? draftVersions(versions) : versions;
    return new Reflector(title, read, sink, api, () => this.#tell(api.log));
  }

  #tell(log: Log): void {
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        // A failing listener must not end the watch.
        log.error('a listener of the cluster watch failed', { reason: String(error) });
      }
    }
  }
}

function selectEndpoints({ namesPods = false, readsPlaces }: ObjectSelection): ApiVersions<EndpointsObject> {
  if (readsPlaces === true) return placedVersions(namesPods);
  return namesPods ? endpointsOfPodsVersions : endpointsVersions;
}

function importedVersions({ services, namesPods = false }: ObjectSelection): ApiVersions<EndpointsObject> {
  const selectors = services === undefined ? [IMPORTED_SERVICE] : [services, IMPORTED_SERVICE];
  return selectVersions(importedEndpointsVersions(namesPods), selectors.join(','));
}

function isTroubled({ kind }: WatchState): boolean {
  return kind === 'waiting' || kind === 'silent';
}
