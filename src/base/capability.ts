/**
 * What one part of the program has, and others ask for, by a key that carries the type: what lies between knows nothing of it.
 */

export interface Offer {
  readonly capability: object;
  /** Of the type of its capability. */
  readonly value: unknown;
}

export class Capability<Value> {
  /** For messages. */
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  offer(value: Value): Offer {
    return { capability: this, value };
  }

  /** The values offered for this capability, in order. */
  findIn(offers: readonly Offer[]): readonly Value[] {
    // Only `offer` pairs a value with its capability.
    return offers.filter(({ capability }) => capability === this).map(({ value }) => value as Value);
  }
}
