/**
 * What one part of the program has, and others ask for, by a key that carries the type: what lies between knows nothing of it.
 */
import type { Service } from '@portolan/plugin';

export interface Offer {
  readonly capability: Service<unknown>;
  /** Of the type of its capability. */
  readonly value: unknown;
}

/** A part that offers something, or nothing. */
export interface Offering {
  readonly offers?: readonly Offer[];
}

export class Capability<Value> implements Service<Value> {
  readonly name: string;
  declare readonly value?: Value | undefined;

  constructor(name: string) {
    this.name = name;
  }

  offer(value: Value): Offer {
    return { capability: this, value };
  }

  /** The values that `parts` offer for this capability, in order. */
  findIn(parts: readonly Offering[]): readonly Value[] {
    const offers = parts.flatMap((part) => part.offers ?? []);
    // Only `offer` pairs a value with its capability.
    return offers.filter(({ capability }) => capability === this).map(({ value }) => value as Value);
  }
}
