/**
 * Finds the rates that hold for the name of a query: those of the longest zone that holds it. It allocates nothing, whatever a packet
 * has.
 */
import { HEADER_OCTETS } from '../wire/header.ts';
import { encodeName } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';
import { hashLabel, lower, RateChecker, type SharedRates } from './rate-rules.ts';

/** The rates of a zone; without any, the zone has no bound, whatever zones above it have. */
export interface RatedZone {
  readonly zone: NameKey;
  readonly rates: readonly SharedRates[];
}

interface CheckedZone {
  /** In lower case. */
  readonly wire: Uint8Array;
  readonly checkers: readonly RateChecker[];
}

const NO_CHECKERS: readonly RateChecker[] = [];
const MAX_LABELS = 127;
/** Small enough to be no object. */
const HASH_MASK = 0x3fff_ffff;

export class RatedZones {
  readonly #byHash = new Map<number, CheckedZone[]>();
  /** Those of the root. */
  readonly #outside: readonly RateChecker[];
  /** Where the labels of a name begin. */
  readonly #labels = new Uint32Array(MAX_LABELS);

  constructor(zones: readonly RatedZone[]) {
    let outside = NO_CHECKERS;
    const known = new Map<SharedRates, RateChecker>();
    for (const { zone, rates } of zones) {
      const checkers = rates.map((each) => {
        const checker = known.get(each) ?? new RateChecker(each);
        known.set(each, checker);
        return checker;
      });
      const wire = encodeName(zone);
      if (wire.length === 1) outside = checkers;
      else this.#add({ wire, checkers });
    }
    this.#outside = outside;
  }

  #add(zone: CheckedZone): void {
    const { wire } = zone;
    let hash = 0;
    for (let label = this.#findLabels(wire, 0, wire.length) - 1; label >= 0; label--) {
      const at = this.#labels[label] ?? 0;
      hash = hashLabel(hash, wire, at, wire[at] ?? 0);
    }
    const key = hash & HASH_MASK;
    this.#byHash.set(key, [...(this.#byHash.get(key) ?? []), zone]);
  }

  /** @param length octets of the packet, which begins at `start` @returns those of the longest zone of its question */
  find(packet: Uint8Array, start: number, length: number): readonly RateChecker[] {
    if (this.#byHash.size === 0) return this.#outside;
    const name = start + HEADER_OCTETS;
    const labels = this.#findLabels(packet, name, start + length);
    let found = this.#outside;
    let hash = 0;
    for (let label = labels - 1; label >= 0; label--) {
      const at = this.#labels[label] ?? 0;
      hash = hashLabel(hash, packet, at, packet[at] ?? 0);
      const zones = this.#byHash.get(hash & HASH_MASK);
      if (zones === undefined) continue;
      for (const zone of zones) if (isSame(zone.wire, packet, at)) found = zone.checkers;
    }
    return found;
  }

  /** Notes where the labels begin. @returns how many there are; 0 for what is no name */
  #findLabels(octets: Uint8Array, name: number, end: number): number {
    let labels = 0;
    for (let at = name; at < end && labels <= MAX_LABELS; ) {
      const length = octets[at] ?? 0;
      if (length === 0) return labels;
      if (length > 63 || labels === MAX_LABELS) return 0;
      this.#labels[labels] = at;
      labels += 1;
      at += 1 + length;
    }
    return 0;
  }
}

function isSame(wire: Uint8Array, packet: Uint8Array, at: number): boolean {
  for (let place = 0; place < wire.length; place++)
    if (wire[place] !== lower(packet[at + place] ?? 0)) return false;
  return true;
}

/** Whether two lists have the same zones with the same memory. */
export function haveSameRates(one: readonly RatedZone[], other: readonly RatedZone[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ zone, rates }, place) => {
      const known = other[place];
      return (
        known?.zone === zone &&
        known.rates.length === rates.length &&
        rates.every((each, at) => each === known.rates[at])
      );
    })
  );
}
