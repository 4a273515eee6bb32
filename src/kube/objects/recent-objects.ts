/**
 * Objects that have just come, by their lines: read again a moment later, they need not be parsed.
 */
import { type ObjectLine, readLine } from './object-line.ts';
import type { ClusterObject } from './objects.ts';

/** As values objects take ten times the room of their lines: few are kept. */
const MAX_KEPT = 2_000;

export class RecentObjects {
  readonly #objects = new Map<ObjectLine, ClusterObject>();

  keep(line: ObjectLine, object: ClusterObject): void {
    if (this.#objects.size < MAX_KEPT) this.#objects.set(line, object);
  }

  /** The object of a line, which is not kept any longer. @typeParam Kind what it is known to be */
  take<Kind extends ClusterObject>(line: ObjectLine): Kind {
    const object = this.#objects.get(line);
    if (object === undefined) return readLine<Kind>(line);
    this.#objects.delete(line);
    return object as Kind; // Kept under its own line.
  }

  /** To be called when all changes are worked off. */
  clear(): void {
    this.#objects.clear();
  }
}
