/**
 * What readers count while they answer: queries by type and rcode, and hits by metrics id.
 *
 * Each reader adds to words of its own in the table's memory (they wrap at 2^32); the main thread sums the growth.
 */
import { TYPE } from '../wire/types.ts';
import { COUNTERS, countersOf, METRICS_IDS, RCODE_BUCKETS, TYPE_BUCKETS } from './layout.ts';

/** The types counted by themselves, in the order of their buckets. */
export const COUNTED_TYPES: readonly number[] = [
  TYPE.A,
  TYPE.AAAA,
  TYPE.PTR,
  TYPE.SRV,
  TYPE.TXT,
  TYPE.CNAME,
  TYPE.NS,
  TYPE.SOA,
  TYPE.MX,
  TYPE.HTTPS,
  TYPE.SVCB,
  TYPE.NAPTR,
  TYPE.ANY,
];

const OTHER = TYPE_BUCKETS - 1;
/** Bucket by type for the low types, which are nearly all of the traffic. */
const BUCKETS: Uint8Array = new Uint8Array(256).fill(OTHER);
for (const [bucket, type] of COUNTED_TYPES.entries()) BUCKETS[type] = bucket;

export class Counters {
  readonly #words: Uint32Array;
  readonly #base: number;

  constructor(words: Uint32Array, reader: number) {
    this.#words = words;
    this.#base = countersOf(reader);
  }

  count(type: number, rcode: number, metricsId: number): void {
    const bucket = type < 256 ? (BUCKETS[type] ?? OTHER) : OTHER;
    this.#add(COUNTERS.BY_TYPE_AND_RCODE + bucket * RCODE_BUCKETS + rcode);
    this.#add(COUNTERS.BY_METRICS_ID + metricsId);
  }

  /** Counts a response to what was not even a question: type "other", no metrics id. */
  countRejected(rcode: number): void {
    this.#add(COUNTERS.BY_TYPE_AND_RCODE + OTHER * RCODE_BUCKETS + rcode);
  }

  #add(word: number): void {
    const at = this.#base + word;
    this.#words[at] = (this.#words[at] ?? 0) + 1;
  }
}

export interface QueryCounts {
  /** Answers since the table was made, by type (undefined: every other type) and response code. */
  readonly byTypeAndRcode: readonly {
    readonly type: number | undefined;
    readonly rcode: number;
    readonly count: number;
  }[];
  readonly byMetricsId: ReadonlyMap<number, number>;
}

/** Sums the counters of all readers. Ask more often than a reader can count to 2^32: every hour is plenty. */
export class CounterSums {
  readonly #words: Uint32Array;
  readonly #readers: number;
  readonly #seen: Uint32Array;
  readonly #sums = new Float64Array(COUNTERS.WORDS);

  constructor(memory: SharedArrayBuffer, readers: number) {
    this.#words = new Uint32Array(memory);
    this.#readers = readers;
    this.#seen = new Uint32Array(readers * COUNTERS.WORDS);
  }

  read(): QueryCounts {
    this.#addGrowth();
    const byTypeAndRcode = [];
    for (let bucket = 0; bucket < TYPE_BUCKETS; bucket++) {
      for (let rcode = 0; rcode < RCODE_BUCKETS; rcode++) {
        const count = this.#sums[COUNTERS.BY_TYPE_AND_RCODE + bucket * RCODE_BUCKETS + rcode] ?? 0;
        if (count > 0) byTypeAndRcode.push({ type: COUNTED_TYPES[bucket], rcode, count });
      }
    }
    const byMetricsId = new Map<number, number>();
    for (let id = 0; id < METRICS_IDS; id++) {
      const count = this.#sums[COUNTERS.BY_METRICS_ID + id] ?? 0;
      if (count > 0) byMetricsId.set(id, count);
    }
    return { byTypeAndRcode, byMetricsId };
  }

  #addGrowth(): void {
    for (let reader = 0; reader < this.#readers; reader++) {
      const base = countersOf(reader);
      for (let word = 0; word < COUNTERS.WORDS; word++) {
        const now = this.#words[base + word] ?? 0;
        const seenAt = reader * COUNTERS.WORDS + word;
        this.#sums[word] = (this.#sums[word] ?? 0) + ((now - (this.#seen[seenAt] ?? 0)) >>> 0);
        this.#seen[seenAt] = now;
      }
    }
  }
}
