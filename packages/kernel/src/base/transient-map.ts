/**
 * A map for keys that come and go thousands of times a second.
 *
 * A `Map` leaves its old tables behind, each pointing to the next. Once one of them is in the old generation, the collector
 * keeps all of them and their content until a full collection. So keys stay in the table without a value, and the rare
 * table without them is a `Map` of its own, to which nothing points.
 */

/** Keys without a value that are always kept. */
const MIN_VACANT = 64;

export class TransientMap<Key, Value extends NonNullable<unknown>> {
  #values = new Map<Key, Value | undefined>();
  #vacant = 0;

  /** Keys with a value. */
  get size(): number {
    return this.#values.size - this.#vacant;
  }

  /** Keys without a value that are still in the table. @internal for its test */
  get vacant(): number {
    return this.#vacant;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  set(key: Key, value: Value): void {
    const before = this.#values.size;
    if (this.#values.get(key) === undefined) {
      this.#values.set(key, value);
      if (this.#values.size === before) this.#vacant -= 1;
    } else this.#values.set(key, value);
  }

  delete(key: Key): void {
    if (this.#values.get(key) === undefined) return;
    this.#values.set(key, undefined);
    this.#vacant += 1;
    if (this.#vacant > Math.max(MIN_VACANT, this.size)) this.#shrink();
  }

  clear(): void {
    this.#values = new Map();
    this.#vacant = 0;
  }

  #shrink(): void {
    const values = new Map<Key, Value | undefined>();
    for (const [key, value] of this.#values) if (value !== undefined) values.set(key, value);
    this.#values = values;
    this.#vacant = 0;
  }
}
