/**
 * The counts of all readers together, as the main thread reads them. Readers' words wrap at 2^32: their growth is summed.
 */
import { TYPE } from '../wire/types.ts';
import {
  BUCKET_OF_TYPE,
  COUNTED_TYPES,
  DURATION_BOUNDS,
  GROUPS,
  OTHER_TYPES,
  POINTERS,
  SIZE_BOUNDS,
  USUAL_OCTETS,
} from './counted.ts';
import { COUNTERS, countersOf, METRICS_IDS, RCODE_BUCKETS, TYPE_BUCKETS } from './layout.ts';

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

const POINTERS_BUCKET = BUCKET_OF_TYPE[TYPE.PTR] ?? OTHER_TYPES;
/** In the number of a counter of answers: metrics id, whether truncated, type, rcode. */
const TRUNCATED_BIT = 1 << 8;
/** The buckets of sizes that are not counted: empty answers, which there are none of, and what remains. */
const USUAL_SIZES = SIZE_BOUNDS.indexOf(USUAL_OCTETS) + 1;

interface Answers {
  truncated: number;
  readonly byRcode: number[];
}

/** All answers, whatever they were. */
export function countAnswered({ byTypeAndRcode }: Pick<QueryCounts, 'byTypeAndRcode'>): number {
  return byTypeAndRcode.reduce((total, { count }) => total + count, 0);
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
    const byTypeAndRcode = new Float64Array(TYPE_BUCKETS * RCODE_BUCKETS);
    const byMetricsId = new Map<number, number>();
    const groups = new Map<number, Answers>();
    for (let word = 0; word < COUNTERS.OCTETS - COUNTERS.ANSWERS; word++) {
      const count = this.#sums[COUNTERS.ANSWERS + word] ?? 0;
      if (count === 0) continue;
      byTypeAndRcode[word & 0xff] = (byTypeAndRcode[word & 0xff] ?? 0) + count;
      const metricsId = word >> 9;
      byMetricsId.set(metricsId, (byMetricsId.get(metricsId) ?? 0) + count);
      const group = ((word >> 4) & 15) === POINTERS_BUCKET ? metricsId | POINTERS : metricsId;
      const answers = groups.get(group) ?? {
        truncated: 0,
        byRcode: new Array<number>(RCODE_BUCKETS).fill(0),
      };
      groups.set(group, answers);
      if ((word & TRUNCATED_BIT) !== 0) answers.truncated += count;
      else answers.byRcode[word & 15] = (answers.byRcode[word & 15] ?? 0) + count;
    }
    const inOrder = [...groups].sort(([one], [other]) => one - other);
    return {
      byTypeAndRcode: listTypes(byTypeAndRcode),
      byMetricsId,
      groups: inOrder.map(([group, answers]) => this.#readGroup(group, answers)),
    };
  }

  #readGroup(group: number, { truncated, byRcode }: Answers): AnswerGroup {
    const count = sum(byRcode) + truncated;
    const large = this.#row(COUNTERS.SIZES + group * 32, SIZE_BOUNDS.length).slice(USUAL_SIZES);
    const late = this.#row(COUNTERS.DURATIONS + group * 16, DURATION_BOUNDS.length + 1).slice(1);
    return {
      metricsId: group & (METRICS_IDS - 1),
      pointers: group >= POINTERS,
      ...{ count, truncated, byRcode },
      sizes: [0, Math.max(0, count - sum(large)), ...large],
      durations: [Math.max(0, count - sum(late)), ...late],
      octets: this.#fraction(group),
      milliseconds: this.#fraction(GROUPS + group),
    };
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

/** @param counts by bucket of type and response code */
function listTypes(counts: Float64Array): readonly AnswerCount[] {
  return Array.from(counts, (count, index) => {
    return { type: COUNTED_TYPES[index >> 4], rcode: index & 15, count };
  }).filter(({ count }) => count > 0);
}
