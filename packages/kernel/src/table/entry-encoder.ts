/**
 * Encodes a cached answer outside the writer's thread, so that the writer only has to find a place for it. The entry
 * equals the one from `encodeCached`, but needs no allocation.
 */
import { addWord, finishQuestion, HASH_KEYS, joinSums, KEYS_PER_WORD } from './hash.ts';
import {
  BODY,
  BODY_AUTHENTIC,
  BODY_AUTHORITATIVE,
  BODY_LENGTH_SHIFT,
  CACHED,
  CACHED_FLAG,
  encodeShape,
  HEADER,
  KIND,
  padded,
  UNIT_SHIFT,
  VIEW,
} from './layout.ts';
import { type TableViews, viewTable } from './memory.ts';
import type { ViewId } from './types.ts';

/** An answer from upstream, as octets. */
export interface PlainAnswer {
  /** A view that uses the cache for this entry. */
  readonly view: ViewId;
  /** Memory that begins with the question's name, in lower case, and the name's octets. */
  readonly name: Uint8Array;
  readonly nameLength: number;
  readonly type: number;
  readonly dnsClass: number;
  /** DO and CD, as in `QuestionReader.cachedFlags`. */
  readonly flags: number;
  readonly records: PlainRecords;
  /** Where the records lie. */
  readonly octets: Uint8Array;
  readonly recordsAt: number;
  /** Seconds, from 1. */
  readonly lifetime: number;
  /** Whether only the chain may give it. */
  readonly isHeld: boolean;
  readonly outcome: number;
  readonly authoritative: boolean;
  readonly recursionAvailable: boolean;
}

/** The content of a response, and which parts of its records vary between answers. */
export interface PlainRecords {
  readonly rcode: number;
  readonly authenticData: boolean;
  readonly answerCount: number;
  readonly authorityCount: number;
  readonly recordsLength: number;
  /** Per record, the offset of its TTL from the first record. */
  readonly ttlOffsets: Uint16Array;
  /** The addresses among the records: where they begin, the octets of each, and how many. */
  readonly runAt: number;
  readonly stride: number;
  readonly addresses: number;
}

/** Octets of the largest entry: larger ones are left to the writer. */
const MAX_OCTETS = 4608;

export class EntryEncoder {
  /** The memory that entries are written to, each at its start. */
  readonly words = new Uint32Array(MAX_OCTETS >> 2);
  readonly #octets = new Uint8Array(this.words.buffer);
  readonly #halves = new Uint16Array(this.words.buffer);
  readonly #views: TableViews;
  readonly #keys: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#views = viewTable(memory);
    this.#keys = this.#views.atoms.slice(HEADER.KEYS, HEADER.KEYS + HASH_KEYS);
  }

  /**
   * Writes the entry of an answer. Call it in a batch of the reader, see `TableReader.enter`.
   *
   * @param answer whose outcome must have counters
   * @param now milliseconds of the monotonic clock that all threads share
   * @returns its octets; 0 if it is too large
   */
  encode(answer: PlainAnswer, now: number): number {
    const { nameLength, records } = answer;
    const count = records.answerCount + records.authorityCount;
    const offsetsAt = CACHED.NAME + padded(nameLength);
    const bodyAt = offsetsAt + padded(count * 2);
    const size = bodyAt + padded(BODY.RECORDS + records.recordsLength);
    if (size > MAX_OCTETS) return 0;
    this.words.fill(0, 0, size >> 2);
    for (let octet = 0; octet < nameLength; octet++)
      this.#octets[CACHED.NAME + octet] = answer.name[octet] ?? 0;
    for (let index = 0; index < count; index++)
      this.#halves[(offsetsAt >> 1) + index] = records.ttlOffsets[index] ?? 0;
    this.#writeBody(answer, bodyAt);
    this.#writeHead(answer, Math.floor(now / 1000), size, bodyAt);
    return size;
  }

  #writeHead(answer: PlainAnswer, now: number, size: number, bodyAt: number): void {
    const { words } = this;
    const { atoms } = this.#views;
    const { view, nameLength, type, dnsClass, flags, records } = answer;
    const directory = (atoms[HEADER.VIEWS] ?? 0) << (UNIT_SHIFT - 2);
    const record = (atoms[directory + view] ?? 0) << (UNIT_SHIFT - 2);
    const salt = atoms[record + (VIEW.SALT >> 2)] ?? 0;
    const cache = (atoms[record + (VIEW.CACHE >> 2)] ?? 0) & 0xffff;
    const nameHash = this.#hashName(nameLength) ^ salt;
    words[CACHED.HASH >> 2] = finishQuestion(nameHash, this.#keys, type, dnsClass, flags);
    words[CACHED.SHAPE >> 2] = encodeShape(nameLength, KIND.CACHED, cache);
    words[CACHED.QUESTION >> 2] = type | (dnsClass << 16);
    words[CACHED.SIZE >> 2] = size;
    words[CACHED.STORED >> 2] = now;
    words[CACHED.EXPIRES >> 2] = now + answer.lifetime;
    words[CACHED.FLAGS >> 2] =
      flags |
      (answer.recursionAvailable ? CACHED_FLAG.RECURSION_AVAILABLE : 0) |
      (answer.isHeld ? CACHED_FLAG.HELD_ONCE_STALE : 0) |
      ((records.answerCount + records.authorityCount) << 16);
    words[CACHED.BODY >> 2] = bodyAt;
    words[CACHED.FRESH_UNTIL >> 2] = answer.isHeld ? now : now + answer.lifetime;
    words[CACHED.OUTCOME >> 2] = answer.outcome;
  }

  /** The unsalted hash of the name just written. */
  #hashName(length: number): number {
    let one = 0;
    let other = 0;
    const first = CACHED.NAME >> 2;
    for (let word = 0, key = 0; word < padded(length) >> 2; word++, key += KEYS_PER_WORD) {
      const value = (this.words[first + word] ?? 0) | 0;
      one = addWord(one, this.#keys, key, value);
      other = addWord(other, this.#keys, key + 2, value);
    }
    return joinSums(one, other);
  }

  #writeBody(answer: PlainAnswer, at: number): void {
    const { words } = this;
    const { records, octets, recordsAt } = answer;
    const { addresses, recordsLength } = records;
    const word = at >> 2;
    const flags =
      records.rcode |
      (answer.authoritative ? BODY_AUTHORITATIVE : 0) |
      (records.authenticData ? BODY_AUTHENTIC : 0);
    words[word] = flags | (recordsLength << BODY_LENGTH_SHIFT);
    words[word + 1] = records.answerCount | (records.authorityCount << 16);
    words[word + 2] = addresses > 1 ? records.stride << 16 : 0;
    words[word + 3] = addresses > 1 ? records.runAt | (addresses << 16) : 0;
    const to = at + BODY.RECORDS;
    for (let octet = 0; octet < recordsLength; octet++)
      this.#octets[to + octet] = octets[recordsAt + octet] ?? 0;
  }
}
