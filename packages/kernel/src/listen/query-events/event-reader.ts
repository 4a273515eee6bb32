/**
 * The consumer's end of a ring of query events.
 */
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import {
  CONTROL,
  type EventRecords,
  type EventRingViews,
  endpointWords,
  FLAG,
  SAMPLING,
  TRANSPORTS,
  viewEventRing,
  WORD,
} from './event-ring.ts';

/** A query that was answered. */
export interface QueryEvent {
  /** How many queries it represents: others like it have no event. */
  readonly weight: number;
  /** Milliseconds of the machine's monotonic clock. */
  readonly received: number;
  /** When the answer was sent, on the same clock. */
  readonly sent: number;
  readonly transport: ClientTransport;
  /** Whether the answer table or the handler chain answered. */
  readonly source: 'table' | 'chain';
  /** 4 or 16 octets. */
  readonly client: Uint8Array;
  readonly clientPort: number;
  /** The address that the query was sent to, as long as the client's; all 0 if unknown. */
  readonly server: Uint8Array;
  readonly id: number;
  /** The third and fourth octet of the query's header, and of the response's. */
  readonly queryFlags: number;
  readonly responseFlags: number;
  readonly queryOctets: number;
  readonly responseOctets: number;
  /** The UDP size of the query's OPT record; undefined without OPT. */
  readonly ednsSize: number | undefined;
  readonly dnssecOk: boolean;
  readonly answers: number;
  readonly authorities: number;
  readonly additionals: number;
  /** Name (with the client's capitals), type and class in wire format; empty if the query was malformed. */
  readonly question: Uint8Array;
  /** Empty unless responses are kept. */
  readonly response: Uint8Array;
  /** A line about a query, instead of an event. The other fields say nothing, but `received`. */
  readonly note?: { readonly line: string; readonly number: number } | undefined;
}

/**
 * An event where it lies in memory. Its parts are read when they are asked for, and are those of another event as soon as it is moved: there
 * may be a hundred thousand events in a second.
 */
export class EventView implements QueryEvent {
  readonly #records: EventRecords;
  #word = 0;
  #flags = 0;
  /** Where its parts begin, and the octets of an address. */
  #clientAt = 0;
  #addressOctets = 0;
  #questionAt = 0;

  constructor(records: EventRecords) {
    this.#records = records;
  }

  /** @param at the offset of a complete record */
  moveTo(at: number): this {
    const { words } = this.#records;
    const word = at >> 2;
    const addressOctets = (endpointWords(words[word + WORD.ENDPOINTS] ?? 0) - 1) << 1;
    this.#word = word;
    this.#flags = words[word + WORD.FLAGS] ?? 0;
    this.#clientAt = at + ((WORD.ENDPOINTS + 1) << 2);
    this.#addressOctets = addressOctets;
    this.#questionAt = this.#clientAt + 2 * addressOctets;
    return this;
  }

  /** Octets of the whole record. */
  get recordOctets(): number {
    return this.#at(WORD.SIZE);
  }

  /** Copies the whole record to words of other memory. @param to an even number @returns its octets */
  copyRecord(target: Uint32Array, to: number): number {
    const { words } = this.#records;
    const octets = this.recordOctets;
    const offset = to - this.#word;
    for (let word = this.#word, end = word + (octets >> 2); word < end; word++)
      target[word + offset] = words[word] ?? 0;
    return octets;
  }

  /** Of its memory, which the offsets of its parts refer to. */
  get octets(): Uint8Array {
    return this.#records.octets;
  }

  get clientAt(): number {
    return this.#clientAt;
  }

  /** 4 or 16. */
  get addressOctets(): number {
    return this.#addressOctets;
  }

  get serverAt(): number {
    return this.#clientAt + this.#addressOctets;
  }

  get questionAt(): number {
    return this.#questionAt;
  }

  get questionOctets(): number {
    return this.#flags >>> 16;
  }

  /** The end of the question's name, behind its root label. Of an event with a question. */
  get nameEnd(): number {
    return this.#questionAt + this.questionOctets - QUESTION_FIXED;
  }

  get questionType(): number {
    return this.#sixteenBits(this.nameEnd);
  }

  get questionClass(): number {
    return this.#sixteenBits(this.nameEnd + 2);
  }

  get responseAt(): number {
    return this.#questionAt + ((this.questionOctets + 3) & ~3);
  }

  /** 0 unless responses are kept. */
  get keptOctets(): number {
    return this.#at(WORD.KEPT) >>> 16;
  }

  /** Whether it is a line about a query. Then its text is in place of the question. */
  get isNote(): boolean {
    return (this.#flags & FLAG.NOTE) !== 0;
  }

  get weight(): number {
    return 1 << ((this.#flags >>> FLAG.WEIGHT) & SAMPLING.EXPONENT);
  }

  get received(): number {
    return this.#records.doubles[(this.#word + WORD.RECEIVED) >> 1] ?? 0;
  }

  get sent(): number {
    return this.#records.doubles[(this.#word + WORD.SENT) >> 1] ?? 0;
  }

  get transport(): ClientTransport {
    return TRANSPORTS[this.#flags & FLAG.TRANSPORT] ?? 'udp';
  }

  get source(): QueryEvent['source'] {
    return (this.#flags & FLAG.CHAIN) === 0 ? 'table' : 'chain';
  }

  get client(): Uint8Array {
    return this.#part(this.#clientAt, this.#addressOctets);
  }

  get clientPort(): number {
    return this.#at(WORD.ENDPOINTS) & 0xffff;
  }

  get server(): Uint8Array {
    return this.#part(this.serverAt, this.#addressOctets);
  }

  get id(): number {
    return this.#at(WORD.QUERY) & 0xffff;
  }

  get queryFlags(): number {
    return this.#at(WORD.QUERY) >>> 16;
  }

  get responseFlags(): number {
    return this.#at(WORD.RESPONSE) & 0xffff;
  }

  get queryOctets(): number {
    return this.#at(WORD.QUERY_SIZE) & 0xffff;
  }

  get responseOctets(): number {
    return this.#at(WORD.RESPONSE) >>> 16;
  }

  get ednsSize(): number | undefined {
    return (this.#flags & FLAG.OPT) === 0 ? undefined : this.#at(WORD.QUERY_SIZE) >>> 16;
  }

  get dnssecOk(): boolean {
    return (this.#flags & FLAG.DNSSEC_OK) !== 0;
  }

  get answers(): number {
    return this.#at(WORD.COUNTS) & 0xffff;
  }

  get authorities(): number {
    return this.#at(WORD.COUNTS) >>> 16;
  }

  get additionals(): number {
    return this.#at(WORD.KEPT) & 0xffff;
  }

  get question(): Uint8Array {
    return this.#part(this.#questionAt, this.questionOctets);
  }

  get response(): Uint8Array {
    return this.#part(this.responseAt, this.keptOctets);
  }

  get note(): QueryEvent['note'] {
    return this.isNote ? { line: readText(this.question), number: this.noteNumber } : undefined;
  }

  get noteNumber(): number {
    return this.#at(WORD.QUERY);
  }

  #at(word: number): number {
    return this.#records.words[this.#word + word] ?? 0;
  }

  #sixteenBits(at: number): number {
    const { octets } = this.#records;
    return ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
  }

  #part(at: number, length: number): Uint8Array {
    return length === 0 ? NOTHING : this.#records.octets.subarray(at, at + length);
  }
}

/** The octets of type and class. */
const QUESTION_FIXED = 4;
const NOTHING = new Uint8Array();

function readText(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString();
}

export class QueryEventReader {
  readonly #views: EventRingViews;
  readonly #event: EventView;

  constructor(memory: SharedArrayBuffer) {
    this.#views = viewEventRing(memory);
    this.#event = new EventView(this.#views);
  }

  /** Events lost because the ring was full. */
  get dropped(): number {
    return Atomics.load(this.#views.control, CONTROL.DROPPED) >>> 0;
  }

  /**
   * Takes out published events, oldest first.
   *
   * @param take given the same view each time; copy what you keep
   * @param isWanted called once per event; returns false to skip it
   * @param max events to take out; the rest remains
   * @returns whether there may be more
   */
  drain(
    take: (event: EventView) => void,
    isWanted: () => boolean = () => true,
    max = Number.POSITIVE_INFINITY,
  ): boolean {
    const { control, words, octets } = this.#views;
    const tail = Atomics.load(control, CONTROL.TAIL);
    let head = Atomics.load(control, CONTROL.HEAD);
    for (let taken = 0; head !== tail; taken++) {
      if (taken >= max) return true;
      const at = head & (octets.length - 1);
      const size = words[at >> 2] ?? 0;
      if (size !== 0 && isWanted()) take(this.#event.moveTo(at));
      head = (head + (size === 0 ? octets.length - at : size)) | 0;
      Atomics.store(control, CONTROL.HEAD, head);
    }
    return false;
  }
}

/** An event that outlives its record. */
export function copyEvent(event: EventView): QueryEvent {
  const { clientAt, addressOctets, questionAt, questionOctets, responseAt, keptOctets } = event;
  // One pooled copy for all parts: events come by the hundred thousand.
  const copied = Buffer.allocUnsafe(responseAt + keptOctets - clientAt);
  copied.set(event.octets.subarray(clientAt, responseAt + keptOctets));
  const part = (from: number, length: number) =>
    length === 0 ? NOTHING : new Uint8Array(copied.buffer, copied.byteOffset + from - clientAt, length);
  return {
    weight: event.weight,
    received: event.received,
    sent: event.sent,
    transport: event.transport,
    source: event.source,
    client: part(clientAt, addressOctets),
    clientPort: event.clientPort,
    server: part(event.serverAt, addressOctets),
    id: event.id,
    queryFlags: event.queryFlags,
    responseFlags: event.responseFlags,
    queryOctets: event.queryOctets,
    responseOctets: event.responseOctets,
    ednsSize: event.ednsSize,
    dnssecOk: event.dnssecOk,
    answers: event.answers,
    authorities: event.authorities,
    additionals: event.additionals,
    question: part(questionAt, questionOctets),
    response: part(responseAt, keptOctets),
    note: event.note,
  };
}
