/**
 * Holds the objects of one kind, from a list and a watch, and reports each change.
 */
import { type ClusterObject, keyOfObject, type ObjectSink } from '@portolan/kubernetes/objects/objects.ts';

export class ChangedObjects<Kind extends ClusterObject> implements ObjectSink<Kind> {
  readonly #changed: () => void;
  #objects = new Map<string, Kind>();
  /** While a list is under way: its objects so far. */
  #listed: Map<string, Kind> | undefined;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get all(): Iterable<Kind> {
    return this.#objects.values();
  }

  listStarted(): void {
    this.#listed = new Map();
  }

  upsert(object: Kind): void {
    (this.#listed ?? this.#objects).set(keyOfObject(object), object);
    if (this.#listed === undefined) this.#changed();
  }

  listCompleted(): void {
    this.#objects = this.#listed ?? this.#objects;
    this.#listed = undefined;
    this.#changed();
  }

  remove(key: string): void {
    if (this.#objects.delete(key)) this.#changed();
  }

  count(): number {
    return this.#objects.size;
  }
}
