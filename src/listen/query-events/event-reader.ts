/**
 * The consumer's end of a ring of query events.
 */
import type { ClientTransport } from '../../wire/response-size.ts';
import {
  CONTROL,
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

export class QueryEventReader {
  readonly #views: EventRingViews;

  constructor(memory: SharedArrayBuffer) {
    this.#views = viewEventRing(memory);
  }

  /** Events lost because the ring was full. */
  get dropped(): number {
    return Atomics.load(this.#views.control, CONTROL.DROPPED) >>> 0;
  }

  /**
   * Takes out published events, oldest first.
   *
   * @param isWanted called once per event; returns false to skip it
   * @param max events to take out; the rest remains
   * @returns whether there may be more
   */
  drain(
    take: (event: QueryEvent) => void,
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
      if (size !== 0 && isWanted()) take(readEventAt(this.#views, at));
      head = (head + (size === 0 ? octets.length - at : size)) | 0;
      Atomics.store(control, CONTROL.HEAD, head);
    }
    return false;
  }
}

const NOTHING = new Uint8Array();

function readText(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString();
}

/** The event at an offset of the records, which is complete. */
export function readEventAt({ words, octets, doubles }: EventRingViews, at: number): QueryEvent {
  const first = at >> 2;
  const word = (offset: number) => words[first + offset] ?? 0;
  const flags = word(WORD.FLAGS);
  const addressWords = (endpointWords(word(WORD.ENDPOINTS)) - 1) / 2;
  const client = at + (WORD.ENDPOINTS + 1) * 4;
  const server = client + addressWords * 4;
  const question = server + addressWords * 4;
  const questionOctets = flags >>> 16;
  const response = question + ((questionOctets + 3) & ~3);
  const responseOctets = word(WORD.KEPT) >>> 16;
  // One pooled copy for all parts: events come by the hundred thousand.
  const end = response + responseOctets;
  const copied = Buffer.allocUnsafe(end - client);
  copied.set(octets.subarray(client, end));
  const part = (from: number, length: number) =>
    length === 0 ? NOTHING : new Uint8Array(copied.buffer, copied.byteOffset + from - client, length);
  return {
    weight: 1 << ((flags >>> FLAG.WEIGHT) & SAMPLING.EXPONENT),
    received: doubles[(first + WORD.RECEIVED) >> 1] ?? 0,
    sent: doubles[(first + WORD.SENT) >> 1] ?? 0,
    transport: TRANSPORTS[flags & FLAG.TRANSPORT] ?? 'udp',
    source: (flags & FLAG.CHAIN) === 0 ? 'table' : 'chain',
    client: part(client, addressWords * 4),
    clientPort: word(WORD.ENDPOINTS) & 0xffff,
    server: part(server, addressWords * 4),
    id: word(WORD.QUERY) & 0xffff,
    queryFlags: word(WORD.QUERY) >>> 16,
    responseFlags: word(WORD.RESPONSE) & 0xffff,
    queryOctets: word(WORD.QUERY_SIZE) & 0xffff,
    responseOctets: word(WORD.RESPONSE) >>> 16,
    ednsSize: (flags & FLAG.OPT) === 0 ? undefined : word(WORD.QUERY_SIZE) >>> 16,
    dnssecOk: (flags & FLAG.DNSSEC_OK) !== 0,
    answers: word(WORD.COUNTS) & 0xffff,
    authorities: word(WORD.COUNTS) >>> 16,
    additionals: word(WORD.KEPT) & 0xffff,
    question: part(question, questionOctets),
    response: part(response, responseOctets),
    note:
      (flags & FLAG.NOTE) === 0
        ? undefined
        : { line: readText(part(question, questionOctets)), number: word(WORD.QUERY) },
  };
}
