/**
 * A ring of query events: one thread writes the queries it answered, one consumer reads them. It never locks or waits:
 * a full ring drops and counts events, and does not delay answers.
 *
 * The memory is eight control words, the counts of searched names (see `search-counts.ts`), then a power of two of octets
 * for consecutive records, which never wrap around the end. Positions count octets ever written, modulo 2^32. Memory that
 * was never written is not resident.
 *
 *     word 0   tail: up to where events are published        word 4   what is sampled, see `SAMPLING`
 *     word 1   head: up to where the consumer has read       word 5   octets of the suffix of searched names | its labels << 16
 *     word 2   one of `EVENT_MODE`                           word 6   searched names of namespaces without a count of their own
 *     word 3   events dropped
 *
 *     A record, in words, its size a multiple of 8 octets
 *     0        its octets, or 0: the rest of the memory is unused
 *     1        flags, see `FLAG` | octets of the question << 16
 *     2, 3     when the query was received, a double: milliseconds of the machine's monotonic clock
 *     4, 5     when the answer was sent, likewise
 *     6        id of the query | its flags << 16
 *     7        octets of the query | UDP size of its OPT record << 16
 *     8        flags of the response | its octets << 16
 *     9, 10    counts of answers | authorities << 16; additionals | octets of the response kept here << 16
 *     11       the two endpoints, see `socket/endpoints.ts`; then the question, then the response, each padded to a word
 *
 * A note is a record too: a line about a query that the main thread answers. Its text is in place of the question, and in word 6 is a
 * number for the reader of notes. Its other words say nothing.
 */
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import { ENDPOINT_WORDS, ENDPOINTS_ARE_IPV6 } from '../../socket/endpoints.ts';
import { SEARCH_OCTETS } from './search-layout.ts';

/**
 * OFF: no events. FAILURES: events of failed and of slow answers, without the fields of their queries but the question. QUERIES: events
 * without responses. RESPONSES: events with the octets of each response.
 */
export const EVENT_MODE = { OFF: 0, FAILURES: 1, QUERIES: 2, RESPONSES: 3 } as const;

export type EventMode = (typeof EVENT_MODE)[keyof typeof EVENT_MODE];

/** The lowest two bits of the flags are the transport, an index of `TRANSPORTS`. From the bit `WEIGHT` on, the exponent of its weight. */
export const FLAG = { TRANSPORT: 3, CHAIN: 4, OPT: 8, DNSSEC_OK: 16, NOTE: 32, WEIGHT: 8 } as const;

/** One event of 2^exponent is written. With FAILURES, so are all answers other than NOERROR, NXDOMAIN and REFUSED. */
export const SAMPLING = { EXPONENT: 31, FAILURES: 32 } as const;

export const TRANSPORTS: readonly ClientTransport[] = ['udp', 'tcp', 'tls', 'https'];

export const CONTROL = { TAIL: 0, HEAD: 1, MODE: 2, DROPPED: 3, SAMPLING: 4, SUFFIX: 5, OTHERS: 6 } as const;
export const CONTROL_OCTETS = 32;
/** Where the records begin. */
const RECORDS_AT = CONTROL_OCTETS + SEARCH_OCTETS;

export const WORD = {
  SIZE: 0,
  FLAGS: 1,
  RECEIVED: 2,
  SENT: 4,
  QUERY: 6,
  QUERY_SIZE: 7,
  RESPONSE: 8,
  COUNTS: 9,
  KEPT: 10,
  ENDPOINTS: 11,
} as const;

const DEFAULT_OCTETS = 4 * 2 ** 20;

/**
 * In FAILURES, only so much of the memory is used, so that no more becomes resident. Between two readings events fill less: those of
 * names and data that do not exist at most the first share, all others the second.
 */
export const FAILURE_OCTETS = { USED: 2 ** 18, DENIALS: 2 ** 16, ALL: 2 ** 17 } as const;

/** @param octets for records, a power of two; default: 4 MiB */
export function makeEventRing(octets = DEFAULT_OCTETS): SharedArrayBuffer {
  return new SharedArrayBuffer(RECORDS_AT + octets);
}

/** Sets what the writer of a ring records from the next batch on. */
export function setEventMode(memory: SharedArrayBuffer, mode: EventMode): void {
  Atomics.store(viewEventRing(memory).control, CONTROL.MODE, mode);
}

/** Sets which events the writer of a ring leaves out from the next batch on. @param sampling as `SAMPLING`; 0: none */
export function setEventSampling(memory: SharedArrayBuffer, sampling: number): void {
  Atomics.store(viewEventRing(memory).control, CONTROL.SAMPLING, sampling);
}

/** Memory of records, seen three ways. */
export interface EventRecords {
  readonly words: Uint32Array;
  readonly octets: Uint8Array;
  readonly doubles: Float64Array;
}

export interface EventRingViews extends EventRecords {
  readonly control: Int32Array;
}

export function viewEventRing(memory: SharedArrayBuffer): EventRingViews {
  return {
    control: new Int32Array(memory, 0, CONTROL_OCTETS / 4),
    words: new Uint32Array(memory, RECORDS_AT),
    octets: new Uint8Array(memory, RECORDS_AT),
    doubles: new Float64Array(memory, RECORDS_AT),
  };
}

/** The number of words of the two endpoints that begin with this one. */
export function endpointWords(first: number): number {
  return (first & ENDPOINTS_ARE_IPV6) === 0 ? ENDPOINT_WORDS.IPV4 : ENDPOINT_WORDS.IPV6;
}

/** Comparisons of two clocks; the thread may be suspended during some. */
const COMPARISONS = 50;

let clockOffset: number | undefined;

/** The monotonic clock that all threads of the machine share, in milliseconds. */
export function sharedMonotonic(): () => number {
  clockOffset ??= compareClocks();
  const offset = clockOffset;
  return () => performance.now() + offset;
}

/** @returns milliseconds from the start of the machine's clock to that of this thread: always the same */
function compareClocks(): number {
  // Time that passes between the two readings makes the difference too small, so the largest is the most exact.
  let offset = Number.NEGATIVE_INFINITY;
  for (let turn = 0; turn < COMPARISONS; turn++)
    offset = Math.max(offset, Number(process.hrtime.bigint()) / 1e6 - performance.now());
  return offset;
}
