/**
 * Things that wait for their turn, each once, in the order they came.
 *
 * A bare `Set` will not do: finding its first entry takes longer the more were taken out before.
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

  /** Takes out the one that has waited longest. */
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
