/**
 * The contents of this process's heap after garbage collection.
 */
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Collects all garbage. */
export async function collectGarbage(): Promise<void> {
  // What a weak reference was read of in this turn of the event loop lives until the next.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
}

/** Octets that are in use after a collection. */
export async function heapUsed(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}

type Class = abstract new (...made: never[]) => object;

/** What all counted classes derive from: one walk over the heap, of most of a second, then finds the instances of them all. */
class Counted {}

/** How many instances of each class there are, by its name. @param classes none derives from another */
export function countInstances(classes: readonly Class[]): Readonly<Record<string, number>> {
  for (const { prototype } of classes) Object.setPrototypeOf(prototype, Counted.prototype);
  const counts = Object.fromEntries(classes.map(({ name }) => [name, 0]));
  for (const summary of queryObjects(Counted, { format: 'summary' })) {
    const [name = ''] = /^\w+/.exec(summary) ?? [];
    if (name in counts) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** The classes that have more instances than before. */
export function findGrown(
  classes: readonly Class[],
  before: Readonly<Record<string, number>>,
): readonly string[] {
  const now = Object.entries(countInstances(classes));
  return now.flatMap(([name, count]) => (count > (before[name] ?? 0) ? name : []));
}
