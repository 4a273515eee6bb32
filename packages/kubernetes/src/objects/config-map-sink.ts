/**
 * One ConfigMap of the API server: its current texts.
 */
import type { ConfigMapObject, ObjectSink } from './objects.ts';

export class ConfigMapSink implements ObjectSink<ConfigMapObject> {
  readonly #name: string;
  readonly #onChange: (data: ReadonlyMap<string, string> | undefined) => void;
  #held: ConfigMapObject | undefined;
  /** While a list is under way: its object so far. */
  #listed: { object: ConfigMapObject | undefined } | undefined;

  /**
   * @param onChange called once it is known whether the ConfigMap exists, and with every later state; with undefined while it
   *   does not exist
   */
  constructor(name: string, onChange: (data: ReadonlyMap<string, string> | undefined) => void) {
    this.#name = name;
    this.#onChange = onChange;
  }

  listStarted(): void {
    this.#listed = { object: undefined };
  }

  upsert(object: ConfigMapObject): void {
    // A server may have ignored the field selector.
    if (object.name !== this.#name) return;
    if (this.#listed === undefined) this.#hold(object);
    else this.#listed.object = object;
  }

  listCompleted(): void {
    const object = this.#listed?.object;
    this.#listed = undefined;
    this.#hold(object);
  }

  remove(key: string): void {
    if (key.endsWith(`/${this.#name}`)) this.#hold(undefined);
  }

  count(): number {
    return this.#held === undefined ? 0 : 1;
  }

  #hold(object: ConfigMapObject | undefined): void {
    this.#held = object;
    this.#onChange(object?.data);
  }
}
