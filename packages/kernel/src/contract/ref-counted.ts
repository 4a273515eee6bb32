/**
 * A value that plugins of several plans use one after the other. It ends with the last of them.
 */
export class RefCounted<Value> {
  readonly value: Value;
  readonly #end: (value: Value) => void | Promise<void>;
  #users = 0;

  /** @param end called when nobody uses it any more */
  constructor(value: Value, end: (value: Value) => void | Promise<void>) {
    this.value = value;
    this.#end = end;
  }

  retain(): this {
    this.#users += 1;
    return this;
  }

  /** Each user that has retained it calls this once. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await this.#end(this.value);
  }
}
