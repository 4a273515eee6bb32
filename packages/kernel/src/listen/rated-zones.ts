/**
 * Finds the rates that hold for the name of a query: those of the longest zone that holds it. It allocates nothing, whatever a packet
 * has.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE } from '@portolan/dns/label.ts';
import { encodeName } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { hashLabel, RateChecker, type SharedRates } from './rate-rules.ts';

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

export class RatedZones {
  readonly #zones: readonly CheckedZone[];
  /** An index by the hash of the zone, open addressing: the hashes, and the numbers of the zones from 1. */
  readonly #hashes: Int32Array;
  readonly #numbers: Int32Array;
  /** Labels of the longest zone: further labels of a name say nothing. */
  readonly #deepest: number;
  /** Those of the root. */
  readonly #outside: readonly RateChecker[];
  /** Where the labels of a name begin. */
  readonly #labels = new Uint32Array(MAX_LABELS);

  constructor(zones: readonly RatedZone[]) {
    const known = new Map<SharedRates, RateChecker>();
    const all = zones.map(({ zone, rates }): CheckedZone => {
      const checkers = rates.map((each) => {
        const checker = known.get(each) ?? new RateChecker(each);
        known.set(each, checker);
        return checker;
      });
      return { wire: encodeName(zone), checkers };
    });
    this.#outside = all.find(({ wire }) => wire.length === 1)?.checkers ?? NO_CHECKERS;
    this.#zones = all.filter(({ wire }) => wire.length > 1);
    this.#hashes = new Int32Array(2 ** Math.ceil(Math.log2(4 * this.#zones.length + 1)));
    this.#numbers = new Int32Array(this.#hashes.length);
    this.#deepest = Math.max(0, ...this.#zones.map(({ wire }) => this.#findLabels(wire, 0, wire.length)));
    for (const [place, { wire }] of this.#zones.entries()) this.#add(wire, place + 1);
  }

  #add(wire: Uint8Array, number: number): void {
    let hash = 0;
    for (let label = this.#findLabels(wire, 0, wire.length) - 1; label >= 0; label--) {
      const at = this.#labels[label] ?? 0;
      hash = hashLabel(hash, wire, at, wire[at] ?? 0);
    }
    const mask = this.#hashes.length - 1;
    let slot = hash & mask;
    while (this.#numbers[slot] !== 0) slot = (slot + 1) & mask;
    this.#hashes[slot] = hash;
    this.#numbers[slot] = number;
  }

  /** @param length octets of the packet, which begins at `start` @returns those of the longest zone of its question */
  find(packet: Uint8Array, start: number, length: number): readonly RateChecker[] {
    if (this.#deepest === 0) return this.#outside;
    const labels = this.#findLabels(packet, start + HEADER_OCTETS, start + length);
    let found = this.#outside;
    let hash = 0;
    for (let label = labels - 1; label >= Math.max(0, labels - this.#deepest); label--) {
      const at = this.#labels[label] ?? 0;
      hash = hashLabel(hash, packet, at, packet[at] ?? 0);
      const zone = this.#findZone(hash, packet, at);
      if (zone !== undefined) found = zone.checkers;
    }
    return found;
  }

  #findZone(hash: number, packet: Uint8Array, at: number): CheckedZone | undefined {
    const mask = this.#hashes.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = this.#numbers[slot] ?? 0;
      if (number === 0) return undefined;
      const zone = this.#hashes[slot] === hash ? this.#zones[number - 1] : undefined;
      if (zone !== undefined && isSame(zone.wire, packet, at)) return zone;
    }
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
    if (wire[place] !== LOWER_CASE[packet[at + place] ?? 0]) return false;
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
