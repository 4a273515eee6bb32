/**
 * What some plugins have, and others of the program ask for. The key carries the type, so the contract knows nothing of it.
 */

/** A thing that a plugin has. */
export interface Offer {
  readonly capability: object;
  /** Of the type of its capability. */
  readonly value: unknown;
}

export class Capability<Value> {
  /** For a person who inspects it. */
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
