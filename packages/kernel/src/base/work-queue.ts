/**
 * A queue of items, each at most once, in the order of arrival.
 *
 * A bare `Set` is too slow: finding its first entry takes longer after many removals.
 */
export class WorkQueue<Item extends string | object> {
  readonly #waiting = new Set<Item>();
  #order: Item[] = [];
  #next = 0;

  get size(): number {
    return this.#waiting.size;
  }

  add(item: Item): void {
    if (this.#waiting.has(item)) return;
    this.#waiting.add(item);
    this.#order.push(item);
  }

  /** Takes out the item that has waited longest. */
  take(): Item | undefined {
    const item = this.#order[this.#next];
    if (item === undefined) return undefined;
    this.#next += 1;
    this.#waiting.delete(item);
    if (this.#next === this.#order.length) {
      this.#order = [];
      this.#next = 0;
    }
    return item;
  }
}
