/**
 * The counters that readers update while they answer: answers by outcome, type and response code, the sizes of answers
 * and queries, and durations.
 *
 * Each reader adds to its own pages in the table's memory, one per outcome. An answer costs one increment and two
 * additions; unusual sizes and times cost another increment. Time is measured per batch; a batch of under one
 * millisecond adds no time.
 */
import { TYPE } from '@portolan/dns/types.ts';
import {
  BUCKET_OF_TYPE,
  DURATION_BOUNDS,
  OTHER_TYPES,
  QUERY_SIZE_BOUNDS,
  SIZE_BOUNDS,
  TRUNCATED,
  USUAL_OCTETS,
  USUAL_QUERY_OCTETS,
} from './counted.ts';
import { COUNTERS, HEADER, UNIT_SHIFT } from './layout.ts';
import { NO_OUTCOME } from './outcomes.ts';

/** A longer batch means that the clock was set: ignore its time. */
const MAX_BATCH_MILLISECONDS = 60_000;
const BATCH = 64;

export class Counters {
  readonly #words: Uint32Array;
  readonly #fractions: Float64Array;
  /** Octets from the page of the first reader to that of this one. */
  readonly #shift: number;
  /** The pages (as words) of this batch's answers, and whether each answers a question for PTR. */
  readonly #batch = new Int32Array(BATCH);
  readonly #pointers = new Uint8Array(BATCH);
  #answered = 0;
  /** The outcome counted last, and its page, which never moves. */
  #outcome = -1;
  #page = 0;

  constructor(memory: ArrayBufferLike, reader: number) {
    this.#words = new Uint32Array(memory);
    this.#fractions = new Float64Array(memory);
    this.#shift = reader * COUNTERS.WORDS;
  }

  /**
   * Counts an answer.
   *
   * @param type of the question
   * @param flags the second word of its header
   * @param outcome one that has counters
   * @param octets its length, 1 to 65,535
   * @param queryOctets that of its query; 0 where it is not known
   * @param dnssecOk whether its query has DO
   */
  count(
    type: number,
    flags: number,
    outcome: number,
    octets: number,
    queryOctets = 0,
    dnssecOk = false,
  ): void {
    const words = this.#words;
    if (outcome !== this.#outcome) this.#findPage(outcome);
    const page = this.#page;
    const bucket = type < 256 ? (BUCKET_OF_TYPE[type] ?? OTHER_TYPES) : OTHER_TYPES;
    const answer = page + COUNTERS.ANSWERS + (((flags & TRUNCATED) >> 1) | (bucket << 4) | (flags & 15));
    words[answer] = (words[answer] ?? 0) + 1;
    const pointer = type === TYPE.PTR ? 1 : 0;
    const sum = ((page + COUNTERS.OCTETS) >> 1) + pointer;
    this.#fractions[sum] = (this.#fractions[sum] ?? 0) + octets;
    const place = this.#answered++ & (BATCH - 1);
    this.#batch[place] = page;
    this.#pointers[place] = pointer;
    const queries = (page + COUNTERS.QUERY_OCTETS) >> 1;
    this.#fractions[queries] = (this.#fractions[queries] ?? 0) + queryOctets;
    if (octets > USUAL_OCTETS) this.#countSize(page, pointer, octets);
    if (dnssecOk || queryOctets > USUAL_QUERY_OCTETS) this.#countQuery(page, queryOctets, dnssecOk);
  }

  #findPage(outcome: number): void {
    const directory = (this.#words[HEADER.COUNTERS] ?? 0) << (UNIT_SHIFT - 2);
    const place = this.#words[directory + outcome] ?? 0;
    // An outcome without counters yet is counted as `NO_OUTCOME`, and looked up again next time.
    const page = place === 0 ? (this.#words[directory + NO_OUTCOME] ?? 0) : place;
    this.#page = (page << (UNIT_SHIFT - 2)) + this.#shift;
    this.#outcome = place === 0 ? -1 : outcome;
  }

  #countQuery(page: number, octets: number, dnssecOk: boolean): void {
    const words = this.#words;
    if (dnssecOk) words[page + COUNTERS.DNSSEC_OK] = (words[page + COUNTERS.DNSSEC_OK] ?? 0) + 1;
    if (octets <= USUAL_QUERY_OCTETS) return;
    const bound = QUERY_SIZE_BOUNDS.findIndex((each) => octets <= each);
    const word = page + COUNTERS.QUERIES + (bound < 0 ? QUERY_SIZE_BOUNDS.length : bound);
    words[word] = (words[word] ?? 0) + 1;
  }

  #countSize(page: number, pointer: number, octets: number): void {
    const word = page + COUNTERS.SIZES + pointer * 32 + SIZE_BOUNDS.findIndex((bound) => octets <= bound);
    this.#words[word] = (this.#words[word] ?? 0) + 1;
  }

  beginBatch(): void {
    this.#answered = 0;
  }

  /** Counts the waiting time of each answer of the batch. @param milliseconds from receiving its packets to sending its answers */
  endBatch(milliseconds: number): void {
    if (milliseconds <= 0 || milliseconds > MAX_BATCH_MILLISECONDS) return;
    const answered = Math.min(this.#answered, BATCH);
    for (let index = 0; index < answered; index++)
      this.#countTime(this.#batch[index] ?? 0, this.#pointers[index] ?? 0, milliseconds);
  }

  /** Durations up to the first bound are not counted: their number is total less the rest. */
  #countTime(page: number, pointer: number, milliseconds: number): void {
    const sum = ((page + COUNTERS.MILLISECONDS) >> 1) + pointer;
    this.#fractions[sum] = (this.#fractions[sum] ?? 0) + milliseconds;
    const bound = DURATION_BOUNDS.findIndex((each) => milliseconds <= each);
    if (bound === 0) return;
    const word = page + COUNTERS.DURATIONS + pointer * 16 + (bound < 0 ? DURATION_BOUNDS.length : bound);
    this.#words[word] = (this.#words[word] ?? 0) + 1;
  }
}
