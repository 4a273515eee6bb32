/**
 * Copies a part of a long list without an intermediate list.
 */

/** Appends a part of a list of any length, from index `from` to before `end`. */
export function copyItems<Item>(items: readonly Item[], from: number, end: number, into: Item[]): void {
  for (let index = from; index < end; index += 1) {
    const item = items[index];
    if (item !== undefined) into.push(item);
  }
}
