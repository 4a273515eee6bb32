/**
 * Changes a few items of a sorted list without sorting it again.
 */
import { copyItems } from '../../base/copy-items.ts';

/**
 * The list with the items of some keys replaced.
 *
 * @param items in order, each key once
 * @param changes by key, the new item; undefined removes it
 */
export function replaceInOrder<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  changes: ReadonlyMap<string, Item | undefined>,
): readonly Item[] {
  const changed: Item[] = [];
  let from = 0;
  for (const key of [...changes.keys()].sort()) {
    const at = findPlace(items, keyOf, key, from);
    copyItems(items, from, at, changed);
    const before = items[at];
    from = before !== undefined && keyOf(before) === key ? at + 1 : at;
    const item = changes.get(key);
    if (item !== undefined) changed.push(item);
  }
  copyItems(items, from, items.length, changed);
  return changed;
}

/** The first index from `low` on whose key is not before this one. */
function findPlace<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  key: string,
  low: number,
): number {
  let [start, end] = [low, items.length];
  while (start < end) {
    const middle = (start + end) >>> 1;
    const item = items[middle];
    if (item !== undefined && keyOf(item) < key) start = middle + 1;
    else end = middle;
  }
  return start;
}
