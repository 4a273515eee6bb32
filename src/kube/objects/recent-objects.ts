/**
 * Recently received objects by their lines: a read a moment later need not parse them.
 */
import { type ObjectLine, readLine } from './object-line.ts';
import type { ClusterObject } from './objects.ts';

/** Objects take ten times the memory of their lines: keep few. */
const MAX_KEPT = 2_000;

export class RecentObjects {
  readonly #objects = new Map<ObjectLine, ClusterObject>();

  keep(line: ObjectLine, object: ClusterObject): void {
    if (this.#objects.size < MAX_KEPT) this.#objects.set(line, object);
  }

  /** The object of a line; removes it from here. @typeParam Kind its known kind */
  take<Kind extends ClusterObject>(line: ObjectLine): Kind {
    const object = this.#objects.get(line);
    if (object === undefined) return readLine<Kind>(line);
    this.#objects.delete(line);
    return object as Kind; // Kept under its own line.
  }

  /** Call it when all changes are processed. */
  clear(): void {
    this.#objects.clear();
  }
}
