/**
 * The objects of one kind that a plugin of others follows, by their keys.
 */
import type { ObjectKey, ObjectSink, OtherObject } from './objects.ts';

export class OtherObjects implements ObjectSink<OtherObject> {
  readonly #changed: () => void;
  #held = new Map<ObjectKey, unknown>();
  /** While a list is under way: its objects so far. */
  #listed: Map<ObjectKey, unknown> | undefined;

  /** @param changed called after each event, and after each whole list */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get values(): ReadonlyMap<ObjectKey, unknown> {
    return this.#held;
  }

  listStarted(): void {
    this.#listed = new Map();
  }

  upsert({ key, value }: OtherObject): void {
    (this.#listed ?? this.#held).set(key, value);
    if (this.#listed === undefined) this.#changed();
  }

  listCompleted(): void {
    this.#held = this.#listed ?? new Map();
    this.#listed = undefined;
    this.#changed();
  }

  remove(key: ObjectKey): void {
    if (this.#held.delete(key)) this.#changed();
  }

  count(): number {
    return (this.#listed ?? this.#held).size;
  }
}
