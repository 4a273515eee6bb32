/**
 * The objects of some kinds by their names. It is rebuilt when a question arrives after a change.
 */
import type { Watch } from '@portolan/plugin';
import type { NamedObject, NamedObjects } from './objects.ts';

export class NameIndex {
  readonly #watches: readonly Watch<NamedObjects>[];
  #byName = new Map<string, NamedObject[]>();
  /** Names above those that exist: they exist, too, without records. */
  #parents = new Set<string>();
  #isCurrent = false;

  /** @param watches whose objects it holds, in order; an object that several have counts once */
  constructor(watches: readonly Watch<NamedObjects>[]) {
    this.#watches = watches;
  }

  changed(): void {
    this.#isCurrent = false;
  }

  /** @param names lower case, without a dot at the end */
  find(names: readonly string[]): readonly NamedObject[] {
    this.#renew();
    return names.flatMap((name) => this.#byName.get(name) ?? []);
  }

  /** Whether there are names below one of these. */
  hasBelow(names: readonly string[]): boolean {
    this.#renew();
    return names.some((name) => this.#parents.has(name));
  }

  /** All that it holds. */
  *all(): Generator<NamedObject> {
    for (const watch of this.#watches) for (const named of watch.objects.values()) yield* named;
  }

  #renew(): void {
    if (this.#isCurrent) return;
    this.#isCurrent = true;
    this.#byName = new Map();
    this.#parents = new Set();
    const seen = new Set<string>();
    for (const { objects } of this.#watches)
      for (const [key, named] of objects) {
        if (seen.has(key)) continue;
        if (this.#watches.length > 1) seen.add(key);
        for (const each of named) for (const name of each.names) this.#add(name, each);
      }
  }

  #add(name: string, object: NamedObject): void {
    const known = this.#byName.get(name);
    if (known === undefined) this.#byName.set(name, [object]);
    else known.push(object);
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
      this.#parents.add(name.slice(dot + 1));
  }
}
