/**
 * The counts of all readers together, as the main thread reads them. Readers' words wrap at 2^32, so their growth is summed.
 */
import { TYPE } from '@portolan/dns/types.ts';
import {
  BUCKET_OF_TYPE,
  COUNTED_TYPES,
  DURATION_BOUNDS,
  OTHER_TYPES,
  QUERY_SIZE_BOUNDS,
  SIZE_BOUNDS,
  USUAL_OCTETS,
  USUAL_QUERY_OCTETS,
} from './counted.ts';
import { COUNTERS, HEADER, RCODE_BUCKETS, TYPE_BUCKETS, UNIT_SHIFT } from './layout.ts';

export interface AnswerCount {
  /** Undefined: every type without counters of its own. */
  readonly type: number | undefined;
  readonly rcode: number;
  readonly count: number;
}

/** Answers with the same outcome; answers to questions for PTR are in groups of their own. */
export interface AnswerGroup {
  readonly outcome: number;
  readonly pointers: boolean;
  readonly count: number;
  readonly truncated: number;
  /** By response code, without truncated answers. */
  readonly byRcode: readonly number[];
  /** By type and response code, with truncated answers. */
  readonly byTypeAndRcode: readonly AnswerCount[];
  /** By `SIZE_BOUNDS`. */
  readonly sizes: readonly number[];
  /** By `DURATION_BOUNDS`, plus a last bucket. */
  readonly durations: readonly number[];
  readonly octets: number;
  readonly milliseconds: number;
}

/** Queries that were answered with one outcome. */
export interface QueriesOfOutcome {
  readonly outcome: number;
  readonly octets: number;
  readonly dnssecOk: number;
  /** By `QUERY_SIZE_BOUNDS`, plus a last bucket. */
  readonly sizes: readonly number[];
}

/** Answers since the table was made. */
export interface QueryCounts {
  readonly byTypeAndRcode: readonly AnswerCount[];
  readonly byOutcome: ReadonlyMap<number, number>;
  /** Only groups with answers; those of questions for PTR come last. */
  readonly groups: readonly AnswerGroup[];
  /** Only outcomes with answers. */
  readonly queries: readonly QueriesOfOutcome[];
}

const POINTERS_BUCKET = BUCKET_OF_TYPE[TYPE.PTR] ?? OTHER_TYPES;
/** Bits in a counter's number: whether truncated, type, rcode. */
const TRUNCATED_BIT = 1 << 8;
/** Number of size buckets that are not counted but derived: usual sizes (an empty answer does not exist). */
const USUAL_SIZES = SIZE_BOUNDS.indexOf(USUAL_OCTETS) + 1;
const USUAL_QUERIES = QUERY_SIZE_BOUNDS.indexOf(USUAL_QUERY_OCTETS) + 1;

/** The number of all answers. */
export function countAnswered({ byTypeAndRcode }: Pick<QueryCounts, 'byTypeAndRcode'>): number {
  return byTypeAndRcode.reduce((total, { count }) => total + count, 0);
}

const ANSWER_WORDS = COUNTERS.QUERIES - COUNTERS.ANSWERS;

/** The sums of an outcome without counts. */
const NO_COUNTS = new Float64Array(COUNTERS.OCTETS);

/** The counts of one outcome, from all readers. */
class OutcomeSums {
  readonly outcome: number;
  /** One page per reader. */
  readonly #pages: readonly Uint32Array[];
  /** Undefined: the reader has no counts yet. */
  readonly #seen: (Uint32Array | undefined)[] = [];
  readonly #fractions: readonly Float64Array[];
  #sums = NO_COUNTS;

  /** @param first the octet of the first reader's page */
  constructor(memory: SharedArrayBuffer, outcome: number, first: number, readers: number) {
    this.outcome = outcome;
    const pages = Array.from({ length: readers }, (_, reader) => first + reader * COUNTERS.WORDS * 4);
    this.#pages = pages.map((page) => new Uint32Array(memory, page, COUNTERS.OCTETS));
    this.#fractions = pages.map((page) => new Float64Array(memory, page + COUNTERS.OCTETS * 4, 5));
  }

  /** Reads word by word from the first, so that durations never cover an answer that is not yet counted. */
  addGrowth(): void {
    for (const [reader, words] of this.#pages.entries()) {
      const seen = this.#seen[reader] ?? this.#see(reader);
      if (seen === undefined) continue;
      for (let word = 0; word < words.length; word++) {
        const now = words[word] ?? 0;
        const before = seen[word] ?? 0;
        if (now === before) continue;
        this.#sums[word] = (this.#sums[word] ?? 0) + ((now - before) >>> 0);
        seen[word] = now;
      }
    }
  }

  /**
   * Follows a reader once it has counts: every answer has octets. With many server blocks, most outcomes stay empty, so
   * they must cost next to nothing.
   */
  #see(reader: number): Uint32Array | undefined {
    const [octets = 0, ofPointers = 0] = this.#fractions[reader] ?? [];
    if (octets === 0 && ofPointers === 0) return undefined;
    if (this.#sums === NO_COUNTS) this.#sums = new Float64Array(COUNTERS.OCTETS);
    this.#seen[reader] = new Uint32Array(COUNTERS.OCTETS);
    return this.#seen[reader];
  }

  /** Whether it has any counts. */
  get isUsed(): boolean {
    return this.#sums !== NO_COUNTS;
  }

  /** By word. */
  get sums(): Float64Array {
    return this.#sums;
  }

  /** Answers to questions for PTR, or to all others. */
  group(pointers: boolean): AnswerGroup {
    const half = pointers ? 1 : 0;
    const byRcode = new Array<number>(RCODE_BUCKETS).fill(0);
    const types = new Float64Array(TYPE_BUCKETS * RCODE_BUCKETS);
    let truncated = 0;
    for (let word = 0; word < ANSWER_WORDS; word++) {
      if ((((word >> 4) & 15) === POINTERS_BUCKET) !== pointers) continue;
      const count = this.sums[COUNTERS.ANSWERS + word] ?? 0;
      types[word & 0xff] = (types[word & 0xff] ?? 0) + count;
      if ((word & TRUNCATED_BIT) !== 0) truncated += count;
      else byRcode[word & 15] = (byRcode[word & 15] ?? 0) + count;
    }
    const count = sum(byRcode) + truncated;
    const large = this.#row(COUNTERS.SIZES + half * 32, SIZE_BOUNDS.length).slice(USUAL_SIZES);
    const late = this.#row(COUNTERS.DURATIONS + half * 16, DURATION_BOUNDS.length + 1).slice(1);
    return {
      outcome: this.outcome,
      pointers,
      count,
      truncated,
      byRcode,
      byTypeAndRcode: listTypes(types),
      sizes: [0, Math.max(0, count - sum(large)), ...large],
      durations: [Math.max(0, count - sum(late)), ...late],
      octets: this.#fraction(half),
      milliseconds: this.#fraction(2 + half),
    };
  }

  /** @param answers how many answers they got in total */
  queries(answers: number): QueriesOfOutcome {
    const large = this.#row(COUNTERS.QUERIES, QUERY_SIZE_BOUNDS.length + 1).slice(USUAL_QUERIES);
    return {
      outcome: this.outcome,
      octets: this.#fraction(4),
      dnssecOk: this.sums[COUNTERS.DNSSEC_OK] ?? 0,
      sizes: [0, Math.max(0, answers - sum(large)), ...large],
    };
  }

  #row(from: number, length: number): readonly number[] {
    return Array.from(this.sums.subarray(from, from + length));
  }

  #fraction(index: number): number {
    return this.#fractions.reduce((total, fractions) => total + (fractions[index] ?? 0), 0);
  }
}

/** Sums the counters of all readers. Read them before a reader can count to 2^32: once an hour is plenty. */
export class CounterSums {
  readonly #memory: SharedArrayBuffer;
  readonly #words: Uint32Array;
  readonly #readers: number;
  /** By outcome; undefined for outcomes without counters. */
  readonly #outcomes: (OutcomeSums | undefined)[] = [];

  constructor(memory: SharedArrayBuffer, readers: number) {
    this.#memory = memory;
    this.#words = new Uint32Array(memory);
    this.#readers = readers;
  }

  read(): QueryCounts {
    this.#findOutcomes();
    const byTypeAndRcode = new Float64Array(TYPE_BUCKETS * RCODE_BUCKETS);
    const outcomes = this.#used();
    for (const outcome of outcomes)
      for (let word = 0; word < ANSWER_WORDS; word++) {
        const count = outcome.sums[COUNTERS.ANSWERS + word] ?? 0;
        byTypeAndRcode[word & 0xff] = (byTypeAndRcode[word & 0xff] ?? 0) + count;
      }
    const groups = [false, true].flatMap((pointers) => outcomes.map((outcome) => outcome.group(pointers)));
    const counted = groups.filter(({ count }) => count > 0);
    const byOutcome = new Map<number, number>();
    for (const { outcome, count } of counted) byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + count);
    const queries = outcomes.flatMap((each) => {
      const answers = byOutcome.get(each.outcome);
      return answers === undefined ? [] : each.queries(answers);
    });
    return { byTypeAndRcode: listTypes(byTypeAndRcode), byOutcome, groups: counted, queries };
  }

  /** The updated sums of outcomes that have counts. */
  #used(): readonly OutcomeSums[] {
    return this.#outcomes.flatMap((outcome) => {
      outcome?.addGrowth();
      return outcome?.isUsed === true ? [outcome] : [];
    });
  }

  /** Finds the outcomes that have counters by now. */
  #findOutcomes(): void {
    const directory = (this.#words[HEADER.COUNTERS] ?? 0) << (UNIT_SHIFT - 2);
    const end = this.#words[HEADER.OUTCOMES] ?? 0;
    for (let outcome = 0; outcome < end; outcome++) {
      const page = (this.#words[directory + outcome] ?? 0) << UNIT_SHIFT;
      if (page !== 0) this.#outcomes[outcome] ??= new OutcomeSums(this.#memory, outcome, page, this.#readers);
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
