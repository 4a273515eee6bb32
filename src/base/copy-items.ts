/**
 * Copies a part of a long list without a list in between.
 */

/** Appends the items of a list from one place up to another, not included, however many they are. */
export function copyItems<Item>(items: readonly Item[], from: number, end: number, into: Item[]): void {
  for (let index = from; index < end; index += 1) {
    const item = items[index];
    if (item !== undefined) into.push(item);
  }
}
