/**
 * Nodes that are published and not answered, since another zone has one of the same name that goes before: a name of a
 * cluster that a hosts file speaks of too. They are few, and outside the index, so readers never see them.
 */
export class HiddenNodes {
  /** The places of blocks, by name and zone. */
  readonly #blocks = new Map<string, Map<number, number>>();

  /** Keeps a block, in place of the one of the same name and zone if there is one. */
  add(name: Uint8Array, zone: number, block: number): void {
    const key = keyOf(name);
    const here = this.#blocks.get(key) ?? new Map<number, number>();
    this.#blocks.set(key, here.set(zone, block));
  }

  get(name: Uint8Array, zone: number): number | undefined {
    return this.#blocks.size === 0 ? undefined : this.#blocks.get(keyOf(name))?.get(zone);
  }

  /** Gives a block back, and forgets it. */
  take(name: Uint8Array, zone: number): number | undefined {
    const block = this.get(name, zone);
    if (block === undefined) return undefined;
    const key = keyOf(name);
    const here = this.#blocks.get(key);
    here?.delete(zone);
    if (here?.size === 0) this.#blocks.delete(key);
    return block;
  }

  /** Gives back the block of the zone with the highest precedence, and forgets it. */
  takeFirst(name: Uint8Array, precedenceOf: (zone: number) => number): number | undefined {
    if (this.#blocks.size === 0) return undefined;
    const zones = [...(this.#blocks.get(keyOf(name))?.keys() ?? [])];
    const [first] = zones.sort((one, other) => precedenceOf(other) - precedenceOf(one));
    return first === undefined ? undefined : this.take(name, first);
  }
}

const keyOf = (name: Uint8Array): string => Buffer.from(name).toString('latin1');
