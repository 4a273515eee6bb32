/**
 * What readers count while they answer: answers by what they stand for, type and response code, their sizes, and the time
 * that they took.
 *
 * Each reader adds to words of its own in the table's memory. An answer costs one increment and one addition; sizes and
 * times that are out of the usual are counted besides. Time is measured per batch: one that took no millisecond adds
 * nothing.
 */
import { TYPE } from '../wire/types.ts';
import {
  BUCKET_OF_TYPE,
  DURATION_BOUNDS,
  GROUPS,
  OTHER_TYPES,
  POINTERS,
  SIZE_BOUNDS,
  TRUNCATED,
  USUAL_OCTETS,
} from './counted.ts';
import { COUNTERS, countersOf } from './layout.ts';

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
    const bucket = type < 256 ? (BUCKET_OF_TYPE[type] ?? OTHER_TYPES) : OTHER_TYPES;
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
