/**
 * Replaces etcd: objects under one counter of resource versions, with the history that watches and pages need.
 *
 * An object is kept as JSON text without `kind` and `apiVersion`, since lists omit them and watches prepend the requested
 * version.
 */
import { type CatalogEntry, findByKind } from './catalog.ts';

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly [field: string]: unknown;
}

/** Any Kubernetes object, as it stands in JSON. */
export interface KubernetesObject {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

export interface StoredObject {
  /** `namespace/name`, or the name alone. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
  readonly text: string;
  readonly object: KubernetesObject;
}

export interface StoreEvent {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
}

interface Collection {
  readonly objects: Map<string, StoredObject>;
  readonly history: StoreEvent[];
  readonly listeners: Set<(event: StoreEvent) => void>;
  /** Keys in order, rebuilt after an object was added or removed. */
  sorted: string[] | undefined;
}

export interface Expired {
  readonly kind: 'expired';
  /** The oldest version that can still be told. */
  readonly oldest: number;
}

/** So that a long run of changes does not fill memory: older events are compacted away. */
const HISTORY_LIMIT = 100_000;

export class ObjectStore {
  readonly #collections = new Map<string, Collection>();
  #version: number;
  #compacted: number;

  constructor(firstVersion: number) {
    this.#version = firstVersion;
    this.#compacted = firstVersion;
  }

  get version(): number {
    return this.#version;
  }

  /** Creates or replaces. `version` sets the object's version, for replaying what was recorded. */
  put(object: KubernetesObject, version = this.#version + 1): StoredObject {
    const entry = findByKind(object.kind);
    const collection = this.#collection(entry.plural);
    const stored = this.#store(entry, object, version);
    const previous = collection.objects.get(stored.key);
    collection.objects.set(stored.key, stored);
    if (previous === undefined) collection.sorted = undefined;
    this.#record(collection, { version, type: previous ? 'MODIFIED' : 'ADDED', object: stored, previous });
    return stored;
  }

  /** Places an object that has been there all along: no event, its own version if it has one. */
  place(object: KubernetesObject): void {
    const entry = findByKind(object.kind);
    const collection = this.#collection(entry.plural);
    const version = Number(object.metadata.resourceVersion ?? this.#version + 1);
    const stored = this.#store(entry, object, version);
    collection.objects.set(stored.key, stored);
    collection.sorted = undefined;
    this.#version = Math.max(this.#version, version);
    this.#compacted = this.#version;
  }

  delete(plural: string, key: string, version = this.#version + 1): StoredObject | undefined {
    const collection = this.#collection(plural);
    const previous = collection.objects.get(key);
    if (previous === undefined) return undefined;
    const gone = this.#store(findByKind(previous.object.kind), previous.object, version);
    collection.objects.delete(key);
    collection.sorted = undefined;
    this.#record(collection, { version, type: 'DELETED', object: gone, previous });
    return gone;
  }

  /** Removes an object without an event: watches never hear of it. */
  forget(plural: string, key: string): void {
    const collection = this.#collection(plural);
    collection.objects.delete(key);
    collection.sorted = undefined;
  }

  get(plural: string, key: string): StoredObject | undefined {
    return this.#collection(plural).objects.get(key);
  }

  /** All objects in the order of their keys. */
  list(plural: string): StoredObject[] {
    const collection = this.#collection(plural);
    collection.sorted ??= [...collection.objects.keys()].sort();
    return collection.sorted.flatMap((key) => collection.objects.get(key) ?? []);
  }

  /** The list as it was at `version`. */
  listAt(plural: string, version: number): StoredObject[] | Expired {
    const later = this.eventsAfter(plural, version);
    if (!Array.isArray(later)) return later;
    if (later.length === 0) return this.list(plural);
    const then = new Map(this.list(plural).map((object) => [object.key, object]));
    for (const event of later.toReversed()) {
      if (event.previous === undefined) then.delete(event.object.key);
      else then.set(event.object.key, event.previous);
    }
    return [...then.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  eventsAfter(plural: string, version: number): StoreEvent[] | Expired {
    if (version < this.#compacted) return { kind: 'expired', oldest: this.#compacted };
    const { history } = this.#collection(plural);
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((history[middle]?.version ?? 0) > version) high = middle;
      else low = middle + 1;
    }
    return history.slice(low);
  }

  /** Forgets all events up to now: every older resource version is expired from here on. */
  compact(): void {
    this.#version += 1;
    this.#compacted = this.#version;
    for (const collection of this.#collections.values()) collection.history.length = 0;
  }

  /** @returns how to stop listening. */
  subscribe(plural: string, listener: (event: StoreEvent) => void): () => void {
    const { listeners } = this.#collection(plural);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  #collection(plural: string): Collection {
    let collection = this.#collections.get(plural);
    if (collection === undefined) {
      collection = { objects: new Map(), history: [], listeners: new Set(), sorted: undefined };
      this.#collections.set(plural, collection);
    }
    return collection;
  }

  #store(entry: CatalogEntry, object: KubernetesObject, version: number): StoredObject {
    const { kind, apiVersion, metadata, ...rest } = object;
    const namespace = entry.namespaced ? (metadata.namespace ?? 'default') : '';
    const complete = {
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
      ...(entry.namespaced ? { namespace } : {}),
      resourceVersion: String(version),
    };
    const text = JSON.stringify({ metadata: complete, ...rest });
    const key = entry.namespaced ? `${namespace}/${metadata.name}` : metadata.name;
    return { key, namespace, name: metadata.name, version, text, object };
  }

  #record(collection: Collection, event: StoreEvent): void {
    this.#version = Math.max(this.#version, event.version);
    collection.history.push(event);
    if (collection.history.length > HISTORY_LIMIT) {
      const [newest] = collection.history.splice(0, HISTORY_LIMIT / 2).slice(-1);
      this.#compacted = Math.max(this.#compacted, newest?.version ?? 0);
    }
    for (const listener of collection.listeners) listener(event);
  }
}
