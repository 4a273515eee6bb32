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

/** How many instances of each class there are, by its name. Takes some 0.2 s for each. */
export function countInstances(classes: readonly Class[]): Readonly<Record<string, number>> {
  // An abstract class is counted like another: by its prototype.
  return Object.fromEntries(
    classes.map((each) => [each.name, Number(queryObjects(each as new () => object, { format: 'count' }))]),
  );
}

/** The classes that have more instances than before. */
export function findGrown(
  classes: readonly Class[],
  before: Readonly<Record<string, number>>,
): readonly string[] {
  const now = Object.entries(countInstances(classes));
  return now.flatMap(([name, count]) => (count > (before[name] ?? 0) ? name : []));
}
