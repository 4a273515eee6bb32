/**
 * What the heap of this process holds once all that nobody refers to is gone.
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

/** How many instances of each class there are, by its name. */
export function countInstances(
  classes: readonly (abstract new (...made: never[]) => object)[],
): Readonly<Record<string, number>> {
  // An abstract class is queried like another: what counts is its prototype.
  return Object.fromEntries(
    classes.map((each) => [each.name, Number(queryObjects(each as new () => object, { format: 'count' }))]),
  );
}
