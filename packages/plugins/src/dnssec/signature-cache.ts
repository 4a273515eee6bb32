/**
 * Signatures by the sets of records that they sign. It forgets the least recently used ones first.
 */
import { secondsUntil, type Validity } from '@portolan/dns/signed-records.ts';

interface Entry extends Validity {
  /** The data of RRSIG records, one for each key. */
  readonly signatures: readonly Uint8Array[];
  readonly octets: number;
}

/** CoreDNS keeps so many, whatever the Corefile says. */
const MIN_CAPACITY = 1024;
/** What a set and its signatures may take on average. */
const MAX_MEAN_OCTETS = 1024;
/** Seconds before they expire at which signatures are replaced: two of their eight days. */
const MIN_REST = 2 * 24 * 3600;

export class SignatureCache {
  readonly #capacity: number;
  readonly #entries = new Map<string, Entry>();
  #octets = 0;

  /** @param capacity the number of sets. They and their signatures have 1024 octets each at most, on average */
  constructor(capacity: number) {
    this.#capacity = Math.max(MIN_CAPACITY, capacity);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param set in canonical form, as `latin1` @param now seconds since the epoch */
  get(set: string, now: number): readonly Uint8Array[] | undefined {
    const entry = this.#entries.get(set);
    if (entry === undefined) return undefined;
    this.#entries.delete(set);
    if (secondsUntil(entry.expiration, now) < MIN_REST || secondsUntil(now, entry.inception) < 0) {
      this.#octets -= entry.octets;
      return undefined;
    }
    this.#entries.set(set, entry);
    return entry.signatures;
  }

  add(set: string, signatures: readonly Uint8Array[], validity: Validity): void {
    const octets = signatures.reduce((sum, { length }) => sum + length, set.length);
    this.#octets += octets - (this.#entries.get(set)?.octets ?? 0);
    this.#entries.set(set, { ...validity, signatures, octets });
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#capacity && this.#octets <= this.#capacity * MAX_MEAN_OCTETS) return;
      this.#entries.delete(oldest);
      this.#octets -= entry.octets;
    }
  }
}
