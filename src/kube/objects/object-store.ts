/**
 * The objects of one kind, each as one line: a tenth of what they take as values.
 *
 * A list that is read anew marks what it meets; at its end what carries an older mark is gone. Equal objects change nothing.
 */
import { type ObjectLine, writeLine } from './object-line.ts';
import { type ClusterObject, keyOfObject, type ObjectKey, type ObjectSink } from './objects.ts';

export type ObjectChanged = (
  key: ObjectKey,
  before: ObjectLine | undefined,
  after: ObjectLine | undefined,
) => void;

interface Kept {
  line: ObjectLine;
  /** The number of the list that it was seen in last. */
  list: number;
}

export type ListState = 'waiting' | 'listing' | 'listed';

export class ObjectStore<Kind extends ClusterObject> implements ObjectSink<Kind> {
  readonly #objects = new Map<ObjectKey, Kept>();
  readonly #changed: ObjectChanged;
  readonly #listed: () => void;
  #list = 0;
  #state: ListState = 'waiting';

  /**
   * @param changed called once for every object that came, went or became another
   * @param listed called at the end of every list
   */
  constructor(changed: ObjectChanged, listed: () => void) {
    this.#changed = changed;
    this.#listed = listed;
  }

  /** `listed` from the end of the first list on, whatever comes after. */
  get state(): ListState {
    return this.#state;
  }

  listStarted(): void {
    this.#list += 1;
    if (this.#state === 'waiting') this.#state = 'listing';
  }

  upsert(object: Kind): void {
    this.#keep(keyOfObject(object), writeLine(object));
  }

  listCompleted(): void {
    for (const [key, kept] of this.#objects) if (kept.list !== this.#list) this.remove(key);
    this.#state = 'listed';
    this.#listed();
  }

  remove(key: ObjectKey): void {
    const kept = this.#objects.get(key);
    if (kept === undefined) return;
    this.#objects.delete(key);
    this.#changed(key, kept.line, undefined);
  }

  count(): number {
    return this.#objects.size;
  }

  has(key: ObjectKey): boolean {
    return this.#objects.has(key);
  }

  /** All objects, for a snapshot. */
  *lines(): Iterable<ObjectLine> {
    for (const { line } of this.#objects.values()) yield line;
  }

  #keep(key: ObjectKey, line: ObjectLine): void {
    const kept = this.#objects.get(key);
    if (kept === undefined) {
      this.#objects.set(key, { line, list: this.#list });
      this.#changed(key, undefined, line);
      return;
    }
    kept.list = this.#list;
    if (kept.line === line) return;
    const before = kept.line;
    kept.line = line;
    this.#changed(key, before, line);
  }
}
