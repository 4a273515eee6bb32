/**
 * What readers count while they answer: answers by what they stand for, type and response code, their sizes, and the time
 * that they took.
 *
 * Each reader adds to words of its own in the table's memory (they wrap at 2^32); the main thread sums the growth. An
 * answer costs two increments and an addition. Time is measured per batch: a batch that took no millisecond adds nothing.
 */
import { TYPE } from '../wire/types.ts';
import { COUNTERS, countersOf, METRICS_IDS, RCODE_BUCKETS, TYPE_BUCKETS } from './layout.ts';

/** The types counted by themselves, in the order of their buckets. */
const COUNTED_TYPES: readonly number[] = [
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

/** Upper ends of sizes in octets, each inclusive. */
export const SIZE_BOUNDS: readonly number[] = [
  ...[0, 512, 1024, 1500, 2048, 4096, 8192, 12_288, 16_384, 20_480, 24_576, 28_672, 32_768],
  ...[36_864, 40_960, 45_056, 49_152, 53_248, 57_344, 61_440, 65_536],
];
/** Upper ends of durations in milliseconds, each inclusive; there is a last bucket without an end. */
export const DURATION_BOUNDS: readonly number[] = [
  ...[1, 3, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000],
];

const OTHER = TYPE_BUCKETS - 1;
/** Bucket by type for the low types, which are nearly all of the traffic. */
const BUCKETS: Uint8Array = new Uint8Array(256).fill(OTHER);
for (const [bucket, type] of COUNTED_TYPES.entries()) BUCKETS[type] = bucket;

/** Sizes up to this one, which are nearly all, are not counted: they are what remains of the answers. */
const USUAL_OCTETS = 512;
const USUAL = SIZE_BOUNDS.indexOf(USUAL_OCTETS);

const TRUNCATED = 0x0200;
/** Questions for PTR are kept apart in sizes and times. */
const POINTERS = METRICS_IDS;
const GROUPS = METRICS_IDS * 2;
/** No clock is believed that says a batch took longer: it was set. */
const LONGEST_BATCH_MILLISECONDS = 60_000;
const BATCH = 64;

export class Counters {
  readonly #words: Uint32Array;
  readonly #octets: Float64Array;
  readonly #milliseconds: Float64Array;
  /** The groups of the answers of this batch. */
  readonly #batch = new Uint8Array(BATCH);
  #answered = 0;

  constructor(memory: ArrayBufferLike, reader: number) {
    const base = countersOf(reader) * 4;
    this.#words = new Uint32Array(memory, base, COUNTERS.WORDS);
    this.#octets = new Float64Array(memory, base + COUNTERS.OCTETS * 4, GROUPS);
    this.#milliseconds = new Float64Array(memory, base + COUNTERS.MILLISECONDS * 4, GROUPS);
  }

  /**
   * Counts an answer.
   *
   * @param type of the question
   * @param flags the second word of its header
   * @param metricsId 0 to 15
   * @param octets its length, 1 to 65,535
   */
  count(type: number, flags: number, metricsId: number, octets: number): void {
    const words = this.#words;
    const bucket = type < 256 ? (BUCKETS[type] ?? OTHER) : OTHER;
    const answer =
      COUNTERS.ANSWERS + ((metricsId << 9) | ((flags & TRUNCATED) >> 1) | (bucket << 4) | (flags & 15));
    words[answer] = (words[answer] ?? 0) + 1;
    const group = type === TYPE.PTR ? metricsId | POINTERS : metricsId;
    this.#octets[group] = (this.#octets[group] ?? 0) + octets;
    this.#batch[this.#answered++ & (BATCH - 1)] = group;
    if (octets > USUAL_OCTETS) this.#countSize(group, octets);
  }

  #countSize(group: number, octets: number): void {
    const word = COUNTERS.SIZES + group * 32 + SIZE_BOUNDS.findIndex((most) => octets <= most);
    this.#words[word] = (this.#words[word] ?? 0) + 1;
  }

  beginBatch(): void {
    this.#answered = 0;
  }

  /** Counts what each answer of the batch has waited. @param milliseconds from its packets' coming to its answers' going */
  endBatch(milliseconds: number): void {
    if (milliseconds <= 0 || milliseconds > LONGEST_BATCH_MILLISECONDS) return;
    const answered = Math.min(this.#answered, BATCH);
    for (let index = 0; index < answered; index++) this.#countTime(this.#batch[index] ?? 0, milliseconds);
  }

  /** Durations of up to the first bound are not counted: they are what remains. */
  #countTime(group: number, milliseconds: number): void {
    this.#milliseconds[group] = (this.#milliseconds[group] ?? 0) + milliseconds;
    const bound = DURATION_BOUNDS.findIndex((most) => milliseconds <= most);
    if (bound === 0) return;
    const word = COUNTERS.DURATIONS + group * 16 + (bound < 0 ? DURATION_BOUNDS.length : bound);
    this.#words[word] = (this.#words[word] ?? 0) + 1;
  }
}

export interface AnswerCount {
  /** Undefined: every type that is not counted by itself. */
  readonly type: number | undefined;
  readonly rcode: number;
  readonly count: number;
}

/** Answers that stand for the same kind of thing, those to questions for PTR apart from all others. */
export interface AnswerGroup {
  readonly metricsId: number;
  readonly pointers: boolean;
  readonly count: number;
  readonly truncated: number;
  /** By response code, those truncated left out. */
  readonly byRcode: readonly number[];
  /** By `SIZE_BOUNDS`. */
  readonly sizes: readonly number[];
  /** By `DURATION_BOUNDS`, and beyond. */
  readonly durations: readonly number[];
  readonly octets: number;
  readonly milliseconds: number;
}

/** Answers since the table was made. */
export interface QueryCounts {
  readonly byTypeAndRcode: readonly AnswerCount[];
  readonly byMetricsId: ReadonlyMap<number, number>;
  /** Those that there are. */
  readonly groups: readonly AnswerGroup[];
}

/** Sums the counters of all readers. Ask more often than a reader can count to 2^32: every hour is plenty. */
export class CounterSums {
  readonly #readers: readonly Uint32Array[];
  readonly #seen: readonly Uint32Array[];
  readonly #fractions: readonly Float64Array[];
  readonly #sums = new Float64Array(COUNTERS.OCTETS);

  constructor(memory: SharedArrayBuffer, readers: number) {
    const each = Array.from({ length: readers }, (_, reader) => countersOf(reader) * 4);
    this.#readers = each.map((base) => new Uint32Array(memory, base, COUNTERS.OCTETS));
    this.#fractions = each.map((base) => new Float64Array(memory, base + COUNTERS.OCTETS * 4, GROUPS * 2));
    this.#seen = each.map(() => new Uint32Array(COUNTERS.OCTETS));
  }

  read(): QueryCounts {
    this.#addGrowth();
    const byMetricsId = new Map<number, number>();
    const groups: AnswerGroup[] = [];
    for (let group = 0; group < GROUPS; group++) {
      const read = this.#readGroup(group);
      if (read.count === 0) continue;
      byMetricsId.set(read.metricsId, (byMetricsId.get(read.metricsId) ?? 0) + read.count);
      groups.push(read);
    }
    return { byTypeAndRcode: this.#readTypes(), byMetricsId, groups };
  }

  #readTypes(): readonly AnswerCount[] {
    const counts = [];
    for (let bucket = 0; bucket < TYPE_BUCKETS; bucket++) {
      for (let rcode = 0; rcode < RCODE_BUCKETS; rcode++) {
        let count = 0;
        for (let row = 0; row < METRICS_IDS * 2; row++)
          count += this.#sums[COUNTERS.ANSWERS + ((row << 8) | (bucket << 4) | rcode)] ?? 0;
        if (count > 0) counts.push({ type: COUNTED_TYPES[bucket], rcode, count });
      }
    }
    return counts;
  }

  #readGroup(group: number): AnswerGroup {
    const metricsId = group & (METRICS_IDS - 1);
    const pointers = group >= POINTERS;
    const whole = this.#byRcode(metricsId << 9, pointers);
    const truncated = sum(this.#byRcode((metricsId << 9) | (TRUNCATED >> 1), pointers));
    const count = sum(whole) + truncated;
    const large = this.#row(COUNTERS.SIZES + group * 32, SIZE_BOUNDS.length).slice(USUAL + 1);
    const sizes = [0, Math.max(0, count - sum(large)), ...large];
    const late = this.#row(COUNTERS.DURATIONS + group * 16, DURATION_BOUNDS.length + 1).slice(1);
    const durations = [Math.max(0, count - sum(late)), ...late];
    const [octets, milliseconds] = [this.#fraction(group), this.#fraction(GROUPS + group)];
    return { metricsId, pointers, count, truncated, byRcode: whole, sizes, durations, octets, milliseconds };
  }

  /** @param row where the types of an id begin */
  #byRcode(row: number, pointers: boolean): readonly number[] {
    const counts = Array.from({ length: RCODE_BUCKETS }, () => 0);
    const pointer = BUCKETS[TYPE.PTR] ?? OTHER;
    for (let bucket = 0; bucket < TYPE_BUCKETS; bucket++) {
      if ((bucket === pointer) !== pointers) continue;
      const of = this.#row(COUNTERS.ANSWERS + (row | (bucket << 4)), RCODE_BUCKETS);
      for (const [rcode, count] of of.entries()) counts[rcode] = (counts[rcode] ?? 0) + count;
    }
    return counts;
  }

  #row(from: number, length: number): readonly number[] {
    return Array.from(this.#sums.subarray(from, from + length));
  }

  #fraction(index: number): number {
    return this.#fractions.reduce((total, fractions) => total + (fractions[index] ?? 0), 0);
  }

  /** Word by word from the first, so that no time is seen of an answer that is not. */
  #addGrowth(): void {
    for (const [reader, words] of this.#readers.entries()) {
      const seen = this.#seen[reader] ?? words;
      for (let word = 0; word < words.length; word++) {
        const now = words[word] ?? 0;
        const before = seen[word] ?? 0;
        if (now === before) continue;
        this.#sums[word] = (this.#sums[word] ?? 0) + ((now - before) >>> 0);
        seen[word] = now;
      }
    }
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
