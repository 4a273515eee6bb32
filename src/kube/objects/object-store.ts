/**
 * The objects of one kind, each as one line: a tenth of their memory as values.
 *
 * At the end of a new list, objects that it did not contain are removed. Equal objects cause no change.
 */
import { type ObjectLine, writeLine } from './object-line.ts';
import { type ClusterObject, keyOfObject, type ObjectKey, type ObjectSink } from './objects.ts';

/** @param object the object of the line `after`, so that it need not be parsed again */
export type ObjectChanged<Kind extends ClusterObject> = (
  key: ObjectKey,
  before: ObjectLine | undefined,
  after: ObjectLine | undefined,
  object: Kind | undefined,
) => void;

export type ListState = 'waiting' | 'listing' | 'listed';

export class ObjectStore<Kind extends ClusterObject> implements ObjectSink<Kind> {
  readonly #objects = new Map<ObjectKey, ObjectLine>();
  readonly #changed: ObjectChanged<Kind>;
  readonly #listed: () => void;
  /** While a list is under way: earlier objects that it has not contained yet. */
  #unmet: Set<ObjectKey> | undefined;
  #state: ListState = 'waiting';

  /**
   * @param changed called once for every object that was added, removed or changed
   * @param listed called at the end of every list
   */
  constructor(changed: ObjectChanged<Kind>, listed: () => void) {
    this.#changed = changed;
    this.#listed = listed;
  }

  /** `listed` from the end of the first list on. */
  get state(): ListState {
    return this.#state;
  }

  listStarted(): void {
    this.#unmet = new Set(this.#objects.keys());
    if (this.#state === 'waiting') this.#state = 'listing';
  }

  upsert(object: Kind): void {
    this.#keep(keyOfObject(object), writeLine(object), object);
  }

  listCompleted(): void {
    const gone = this.#unmet ?? [];
    this.#unmet = undefined;
    for (const key of gone) this.remove(key);
    this.#state = 'listed';
    this.#listed();
  }

  remove(key: ObjectKey): void {
    const line = this.#objects.get(key);
    if (line === undefined) return;
    this.#objects.delete(key);
    this.#changed(key, line, undefined, undefined);
  }

  count(): number {
    return this.#objects.size;
  }

  has(key: ObjectKey): boolean {
    return this.#objects.has(key);
  }

  /** All objects, for a snapshot. */
  lines(): Iterable<ObjectLine> {
    return this.#objects.values();
  }

  #keep(key: ObjectKey, line: ObjectLine, object: Kind): void {
    this.#unmet?.delete(key);
    const before = this.#objects.get(key);
    if (before === line) return;
    this.#objects.set(key, line);
    this.#changed(key, before, line, object);
  }
}
