/**
 * One fact of each object that has it.
 */
import { isDeepStrictEqual } from 'node:util';
import { keyOfObject, type ObjectKey, type ObjectSink, type WatchedObject } from './objects.ts';

export interface FactRules<Kind extends WatchedObject, Fact> {
  /** Undefined: the object lacks it. */
  readonly read: (object: Kind) => Fact | undefined;
  /** Whether names of an object that the source has lost are still answered: then its fact stays. */
  readonly isHeld: (key: ObjectKey) => boolean;
  /** Called after a fact came, changed or went. */
  readonly changed: (key: ObjectKey) => void;
}

export class ObjectFacts<Kind extends WatchedObject, Fact> implements ObjectSink<Kind> {
  readonly #rules: FactRules<Kind, Fact>;
  readonly #facts = new Map<ObjectKey, Fact>();
  /** While a list is under way: the objects in it. */
  #listed: Set<ObjectKey> | undefined;

  constructor(rules: FactRules<Kind, Fact>) {
    this.#rules = rules;
  }

  get(key: ObjectKey): Fact | undefined {
    return this.#facts.get(key);
  }

  listStarted(): void {
    this.#listed = new Set();
  }

  upsert(object: Kind): void {
    const key = keyOfObject(object);
    this.#listed?.add(key);
    const fact = this.#rules.read(object);
    if (fact === undefined) this.#drop(key);
    else if (!isDeepStrictEqual(fact, this.#facts.get(key))) {
      this.#facts.set(key, fact);
      this.#rules.changed(key);
    }
  }

  listCompleted(): void {
    const listed = this.#listed ?? new Set<ObjectKey>();
    this.#listed = undefined;
    for (const key of this.#facts.keys()) if (!listed.has(key)) this.remove(key);
  }

  remove(key: ObjectKey): void {
    if (!this.#rules.isHeld(key)) this.#drop(key);
  }

  count(): number {
    return this.#facts.size;
  }

  #drop(key: ObjectKey): void {
    if (this.#facts.delete(key)) this.#rules.changed(key);
  }
}
