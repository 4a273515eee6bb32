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

/** The counters of all outcomes, as one thread reads them: one view of each kind, whatever the number of outcomes. */
interface CounterViews {
  readonly words: Uint32Array;
  readonly fractions: Float64Array;
  /** Pages of an outcome, one per reader. */
  readonly readers: number;
}

/** Whether an outcome has counts. @param first the octet of the first reader's page */
function hasCounts(views: CounterViews, first: number): boolean {
  for (let reader = 0; reader < views.readers; reader++) if (isCounting(views, first, reader)) return true;
  return false;
}

/** Whether a reader has counts of an outcome: every answer has octets, of questions for PTR or of others. */
function isCounting({ fractions }: CounterViews, first: number, reader: number): boolean {
  return (
    fractions[locateFraction(first, reader, 0)] !== 0 || fractions[locateFraction(first, reader, 1)] !== 0
  );
}

/** The place of a sum of octets (0, 1), of milliseconds (2, 3) or of the octets of queries (4). */
const locateFraction = (first: number, reader: number, index: number): number =>
  ((first + (reader * COUNTERS.WORDS + COUNTERS.OCTETS) * 4) >> 3) + index;

/** The counts of one outcome that has some, from all readers. */
class OutcomeSums {
  readonly outcome: number;
  readonly #views: CounterViews;
  readonly #first: number;
  /** Undefined: the reader has no counts yet. */
  readonly #seen: (Uint32Array | undefined)[] = [];
  readonly #sums = new Float64Array(COUNTERS.OCTETS);

  /** @param first the octet of the first reader's page */
  constructor(views: CounterViews, outcome: number, first: number) {
    this.outcome = outcome;
    this.#views = views;
    this.#first = first;
  }

  /** Reads word by word from the first, so that durations never cover an answer that is not yet counted. */
  addGrowth(): void {
    const { words, readers } = this.#views;
    for (let reader = 0; reader < readers; reader++) {
      const seen = this.#seen[reader] ?? this.#see(reader);
      if (seen === undefined) continue;
      const page = (this.#first >> 2) + reader * COUNTERS.WORDS;
      for (let word = 0; word < seen.length; word++) {
        const now = words[page + word] ?? 0;
        const before = seen[word] ?? 0;
        if (now === before) continue;
        this.#sums[word] = (this.#sums[word] ?? 0) + ((now - before) >>> 0);
        seen[word] = now;
      }
    }
  }

  /** Follows a reader once it has counts. */
  #see(reader: number): Uint32Array | undefined {
    if (!isCounting(this.#views, this.#first, reader)) return undefined;
    this.#seen[reader] = new Uint32Array(COUNTERS.OCTETS);
    return this.#seen[reader];
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
    const { fractions, readers } = this.#views;
    let total = 0;
    for (let reader = 0; reader < readers; reader++)
      total += fractions[locateFraction(this.#first, reader, index)] ?? 0;
    return total;
  }
}

/** Sums the counters of all readers. Read them before a reader can count to 2^32: once an hour is plenty. */
export class CounterSums {
  readonly #views: CounterViews;
  /** By outcome; only those with counts. With many server blocks, most outcomes stay empty, so they must cost next to nothing. */
  readonly #outcomes: (OutcomeSums | undefined)[] = [];

  constructor(memory: SharedArrayBuffer, readers: number) {
    this.#views = { words: new Uint32Array(memory), fractions: new Float64Array(memory), readers };
  }

  read(): QueryCounts {
    this.#findOutcomes();
    const byTypeAndRcode = new Float64Array(TYPE_BUCKETS * RCODE_BUCKETS);
    const outcomes = this.#outcomes.filter((each) => each !== undefined);
    for (const outcome of outcomes) outcome.addGrowth();
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

  /** Finds the outcomes that have counts by now. */
  #findOutcomes(): void {
    const { words } = this.#views;
    const directory = (words[HEADER.COUNTERS] ?? 0) << (UNIT_SHIFT - 2);
    const end = words[HEADER.OUTCOMES] ?? 0;
    for (let outcome = 0; outcome < end; outcome++) {
      if (this.#outcomes[outcome] !== undefined) continue;
      const first = (words[directory + outcome] ?? 0) << UNIT_SHIFT;
      if (first !== 0 && hasCounts(this.#views, first))
        this.#outcomes[outcome] = new OutcomeSums(this.#views, outcome, first);
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
