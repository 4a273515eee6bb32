/**
 * The writer's end of a ring of query events, one per thread that answers.
 *
 * A batch: `begin`; for each query `noteQuery` before its answer overwrites it, and `write` after; `publish` when the
 * answers are sent. It allocates no memory.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { ENDPOINT_WORDS } from '../../socket/endpoints.ts';
import {
  CONTROL,
  EVENT_MODE,
  FAILURE_OCTETS,
  FLAG,
  SAMPLING,
  sharedMonotonic,
  viewEventRing,
  WORD,
} from './event-ring.ts';
import { SearchCounter } from './search-counts.ts';

/** Writes the two endpoints of a packet to words of the ring. @returns words written */
export interface EndpointSource {
  writeEndpoints(index: number, target: Uint32Array, at: number): number;
}

/** Reserves room for the endpoints of an IPv6 packet, the longer ones. */
const MAX_FIXED_OCTETS = (WORD.ENDPOINTS + 9) * 4;
const RCODE_MASK = 0x0f;
const TRUNCATED = 0x02;
/** Octets of type and class after a name. */
const QUESTION_FIXED = 4;
/** A question that cannot be read. */
const NO_QUESTION = -1;
/** The words before the text of a note, with endpoints of IPv4. */
const NOTE_WORDS = WORD.ENDPOINTS + ENDPOINT_WORDS.IPV4;
/** Milliseconds from which an answer is slow. */
export const SLOW_ANSWER = 1_000;
/** A time that was not read yet. */
const UNKNOWN = -1;
const NO_ROOM = -1;

export class QueryEventWriter {
  readonly #control: Int32Array;
  readonly #words: Uint32Array;
  readonly #doubles: Float64Array;
  readonly #capacity: number;
  readonly #monotonic = sharedMonotonic();
  readonly #searches: SearchCounter;
  /** As `SAMPLING`; 0: all events are written. */
  #sampling = 0;
  /** Queries until the next that is drawn, and the state of the generator that chooses them. */
  #untilDrawn = 1;
  #random = 0x9e3779b9;
  #isDrawn = true;
  #mode: number = EVENT_MODE.OFF;
  #received = 0;
  /** The positions of the first unpublished event, and after the last. */
  #first = 0;
  #tail = 0;
  /** The consumer's position when the batch began. It only moves on, so this never overstates the room. */
  #head = 0;
  #id = 0;
  #flags = 0;
  #queryFlags = 0;
  #querySize = 0;
  #ednsSize = 0;
  #questionOctets = 0;
  /** In FAILURES: octets of events that were not read when the last batch began, and of those since. */
  #unread = 0;

  constructor(memory: SharedArrayBuffer) {
    const { control, words, doubles, octets } = viewEventRing(memory);
    this.#control = control;
    this.#words = words;
    this.#doubles = doubles;
    this.#capacity = octets.length;
    this.#searches = new SearchCounter(memory);
  }

  /** Whether events are enabled now. */
  get isOn(): boolean {
    return Atomics.load(this.#control, CONTROL.MODE) !== EVENT_MODE.OFF;
  }

  /** @returns whether events are enabled; if not, do not call the other functions for this batch */
  begin(): boolean {
    this.#mode = Atomics.load(this.#control, CONTROL.MODE);
    if (this.#mode === EVENT_MODE.OFF) return false;
    this.#sampling = Atomics.load(this.#control, CONTROL.SAMPLING);
    // In a sample, and of failures, most batches have no event: the clock is read when there is one.
    const hasFew = this.#sampling !== 0 || this.#mode === EVENT_MODE.FAILURES;
    this.#received = hasFew ? UNKNOWN : this.#monotonic();
    this.#readEnds();
    return true;
  }

  #readEnds(): void {
    this.#first = Atomics.load(this.#control, CONTROL.TAIL);
    this.#tail = this.#first;
    this.#head = Atomics.load(this.#control, CONTROL.HEAD);
    if (this.#head === this.#tail) this.#unread = 0;
  }

  /** The last result of `begin`. */
  get isWriting(): boolean {
    return this.#mode !== EVENT_MODE.OFF;
  }

  /**
   * Whether an answer is to have an event, as far as the mode says. Cheap for an answer that has not failed.
   *
   * @param received when the query came, of an answer that may be slow
   */
  wants(octets: Uint8Array, start: number, length: number, received = UNKNOWN): boolean {
    if (this.#mode !== EVENT_MODE.FAILURES) return this.#mode !== EVENT_MODE.OFF;
    if (isFailedResponse(octets, start, length)) return !this.#isSearched(octets, start);
    return received !== UNKNOWN && this.#monotonic() - received >= SLOW_ANSWER;
  }

  #isSearched(octets: Uint8Array, start: number): boolean {
    const rcode = (octets[start + 3] ?? 0) & RCODE_MASK;
    return rcode === RCODE.NXDOMAIN && this.#searches.isSearched(octets, start + HEADER_OCTETS);
  }

  /** Overrides the time from `begin`, for a query that came earlier. */
  receivedAt(monotonic: number): void {
    this.#received = monotonic;
  }

  /** The clock for `receivedAt`. */
  now(): number {
    return this.#monotonic();
  }

  /** Saves the parts of a query that its answer will overwrite. @param flags of `FLAG`: TRANSPORT and CHAIN */
  noteQuery(view: DataView, start: number, length: number, flags: number): void {
    this.#querySize = length;
    this.#flags = flags;
    this.#ednsSize = 0;
    this.#questionOctets = 0;
    if (this.#mode === EVENT_MODE.FAILURES) return;
    this.#id = length < HEADER_OCTETS ? 0 : view.getUint16(start);
    this.#queryFlags = length < HEADER_OCTETS ? 0 : view.getUint16(start + 2);
    this.#isDrawn = this.#sampling === 0 || this.#draw();
    if (!this.#isDrawn) return;
    const end = start + length;
    const at = findQuestionEnd(view, start, length);
    if (at === NO_QUESTION) return;
    this.#questionOctets = at - start - HEADER_OCTETS;
    if (at + OPT_OCTETS > end || view.getInt32(start + 6) !== 0 || view.getUint16(start + 10) !== 1) return;
    if (view.getUint8(at) !== 0 || view.getUint16(at + 1) !== TYPE.OPT) return;
    this.#ednsSize = view.getUint16(at + 3);
    this.#flags |= FLAG.OPT | ((view.getUint8(at + 7) & 0x80) === 0 ? 0 : FLAG.DNSSEC_OK);
  }

  /** Whether this query is one of the sample. The gaps are at random, so that clients with a rhythm are not preferred. */
  #draw(): boolean {
    if (--this.#untilDrawn > 0) return false;
    const exponent = this.#sampling & SAMPLING.EXPONENT;
    // A xorshift generator of 32 bits; the gaps are 1 to 2^(exponent + 1) - 1 queries.
    let random = this.#random;
    random ^= random << 13;
    random ^= random >>> 17;
    random ^= random << 5;
    this.#random = random;
    this.#untilDrawn = 1 + ((random >>> 0) % ((2 << exponent) - 1));
    return true;
  }

  /**
   * Appends the event of the query noted last.
   *
   * @param view the response from `start` on: its question is the client's own
   * @param length octets of the response
   */
  write(view: DataView, start: number, length: number, source: EndpointSource, index: number): void {
    if (start + HEADER_OCTETS > view.byteLength) return;
    if (this.#mode === EVENT_MODE.FAILURES) this.#forgetQuery(view, start, length);
    else if (!this.#isWanted(view, start, length)) return;
    if (this.#received === UNKNOWN) this.#received = this.#monotonic();
    const words = this.#words;
    const kept = this.#mode === EVENT_MODE.RESPONSES ? length : 0;
    const question =
      start + HEADER_OCTETS + this.#questionOctets <= view.byteLength ? this.#questionOctets : 0;
    const isFull = this.#mode === EVENT_MODE.FAILURES && this.#unread > readRoom(view, start);
    const at = isFull
      ? NO_ROOM
      : this.#reserve(MAX_FIXED_OCTETS + ((question + 3) & ~3) + ((kept + 3) & ~3) + 4);
    if (at < 0) {
      Atomics.add(this.#control, CONTROL.DROPPED, 1);
      return;
    }
    const word = at >> 2;
    words[word + WORD.FLAGS] = this.#flags | (question << 16);
    this.#doubles[(word + WORD.RECEIVED) >> 1] = this.#received;
    words[word + WORD.QUERY] = this.#id | (this.#queryFlags << 16);
    words[word + WORD.QUERY_SIZE] = this.#querySize | (this.#ednsSize << 16);
    words[word + WORD.RESPONSE] = view.getUint16(start + 2) | (length << 16);
    words[word + WORD.COUNTS] = view.getUint16(start + 6) | (view.getUint16(start + 8) << 16);
    words[word + WORD.KEPT] = view.getUint16(start + 10) | (kept << 16);
    let to = word + WORD.ENDPOINTS;
    to += source.writeEndpoints(index, words, to);
    to = this.#copy(view, start + HEADER_OCTETS, question, to);
    if (kept > 0) to = this.#copy(view, start, kept, to);
    const size = (((to - word) << 2) + 7) & ~7;
    words[word] = size;
    this.#unread += size;
    this.#tail = (this.#tail + size) | 0;
  }

  /** Events of failures have no more of the query than its question. */
  #forgetQuery(view: DataView, start: number, length: number): void {
    const end = findQuestionEnd(view, start, length);
    this.#questionOctets = end === NO_QUESTION ? 0 : end - start - HEADER_OCTETS;
    this.#id = 0;
    this.#queryFlags = 0;
    this.#querySize = 0;
  }

  /** Appends and publishes a note, between two batches. @param text at most 65,535 octets */
  note(text: Uint8Array, time: number, number: number): void {
    this.#readEnds();
    const at = this.#reserve(MAX_FIXED_OCTETS + text.length + 4);
    if (at < 0) {
      Atomics.add(this.#control, CONTROL.DROPPED, 1);
      return;
    }
    const words = this.#words;
    const word = at >> 2;
    words.fill(0, word, word + NOTE_WORDS);
    words[word + WORD.FLAGS] = FLAG.NOTE | (text.length << 16);
    this.#doubles[(word + WORD.RECEIVED) >> 1] = time;
    words[word + WORD.QUERY] = number;
    const view = new DataView(text.buffer, text.byteOffset, text.length);
    const to = this.#copy(view, 0, text.length, word + NOTE_WORDS);
    const size = (((to - word) << 2) + 7) & ~7;
    words[word] = size;
    this.#tail = (this.#tail + size) | 0;
    this.publish();
  }

  /** Whether an answer has an event. Names that do not exist are counted in any case. */
  #isWanted(view: DataView, start: number, length: number): boolean {
    const rcode = view.getUint8(start + 3) & RCODE_MASK;
    if (rcode === RCODE.NXDOMAIN) this.#searches.count(view, start + HEADER_OCTETS);
    if (this.#sampling === 0) return true;
    const keepsAll = (this.#sampling & SAMPLING.FAILURES) !== 0 && isFailure(rcode);
    if (keepsAll && !this.#isDrawn) {
      const end = findQuestionEnd(view, start, length);
      if (end !== NO_QUESTION) this.#questionOctets = end - start - HEADER_OCTETS;
    } else if (!keepsAll) this.#flags |= (this.#sampling & SAMPLING.EXPONENT) << FLAG.WEIGHT;
    return keepsAll || this.#isDrawn;
  }

  /** Hands the events of the batch to the consumer, with the time at which their answers were sent. */
  publish(): void {
    if (this.#first === this.#tail) return;
    const words = this.#words;
    const doubles = this.#doubles;
    const now = this.#monotonic();
    const mask = this.#capacity - 1;
    for (let position = this.#first; position !== this.#tail; ) {
      const at = position & mask;
      const size = words[at >> 2] ?? 0;
      if (size === 0) position = (position + this.#capacity - at) | 0;
      else {
        doubles[((at >> 2) + WORD.SENT) >> 1] = now;
        position = (position + size) | 0;
      }
    }
    Atomics.store(this.#control, CONTROL.TAIL, this.#tail);
  }

  /** Reserves a place for a record of at most this size; -1 if the ring is full. Skips the end of the memory if it is too short. */
  #reserve(size: number): number {
    const free = this.#capacity - ((this.#tail - this.#head) >>> 0);
    const at = this.#tail & (this.#capacity - 1);
    const left = this.#capacity - at;
    const isBounded = this.#mode === EVENT_MODE.FAILURES && this.#capacity > FAILURE_OCTETS.USED;
    const usable = isBounded ? FAILURE_OCTETS.USED - at : left;
    if (size <= usable) return size <= free ? at : NO_ROOM;
    if (left + size > free) return NO_ROOM;
    this.#words[at >> 2] = 0;
    this.#tail = (this.#tail + left) | 0;
    return 0;
  }

  /** Copies octets of a packet to words of the ring. @returns the next word */
  #copy(view: DataView, from: number, length: number, to: number): number {
    const words = this.#words;
    const whole = length & ~3;
    let word = to;
    for (let at = 0; at < whole; at += 4, word++) words[word] = view.getUint32(from + at, true);
    if (whole === length) return word;
    let last = 0;
    for (let at = whole; at < length; at++) last |= view.getUint8(from + at) << ((at - whole) * 8);
    words[word] = last;
    return word + 1;
  }
}

/** NXDOMAIN is an answer, and REFUSED what the configuration says. */
function isFailure(rcode: number): boolean {
  return rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN && rcode !== RCODE.REFUSED;
}

/** How many octets of unread events leave room for that of this one. What does not exist, or is not allowed, is asked for in floods. */
function readRoom(view: DataView, start: number): number {
  const rcode = view.getUint8(start + 3) & RCODE_MASK;
  return isFailure(rcode) ? FAILURE_OCTETS.ALL : FAILURE_OCTETS.DENIALS;
}

/**
 * Whether a response has an error, or no address where one was asked for. Names exist without addresses of IPv6 in most clusters, so
 * only those without type A count.
 */
function isFailedResponse(octets: Uint8Array, start: number, length: number): boolean {
  if (((octets[start + 3] ?? 0) & RCODE_MASK) !== RCODE.NOERROR) return true;
  if (((octets[start + 6] ?? 0) | (octets[start + 7] ?? 0)) !== 0) return false;
  if (((octets[start + 2] ?? 0) & TRUNCATED) !== 0) return false;
  return asksForAddress(octets, start, length);
}

/** The labels of a name are at most 63 octets long. */
function asksForAddress(octets: Uint8Array, start: number, length: number): boolean {
  const end = start + length;
  let at = start + HEADER_OCTETS;
  for (let label = octets[at] ?? 0; label !== 0; label = octets[at] ?? 0) {
    at += label + 1;
    if (label > 63 || at >= end) return false;
  }
  return at + QUESTION_FIXED < end && octets[at + 1] === 0 && octets[at + 2] === TYPE.A;
}

/** Where the only question of a message ends; `NO_QUESTION`: it has none that can be read. */
function findQuestionEnd(view: DataView, start: number, length: number): number {
  if (length < HEADER_OCTETS || view.getUint16(start + 4) !== 1) return NO_QUESTION;
  const end = start + length;
  let at = start + HEADER_OCTETS;
  for (;;) {
    if (at + QUESTION_FIXED >= end) return NO_QUESTION;
    const label = view.getUint8(at);
    at += label + 1;
    if (label === 0) break;
    if (label > 63) return NO_QUESTION;
  }
  return at + QUESTION_FIXED;
}
