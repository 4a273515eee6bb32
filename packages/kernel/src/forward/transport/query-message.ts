/**
 * Queries as sent, and the check that a reply belongs to one.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE } from '@portolan/dns/label.ts';
import { encodeMessage } from '@portolan/dns/message.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { writeName } from '@portolan/dns/name-wire.ts';
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import {
  type Edns,
  type Header,
  type NameKey,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';

/** A question, with all that must be equal for two of them to share an answer. */
export interface ForwardQuestion extends Question {
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  readonly recursionDesired: boolean;
  /**
   * The transport of a client whose question is passed on as it came: over UDP a truncated reply will do, since the client then asks
   * over TCP; over TCP the servers are asked over TCP at once. Undefined: over UDP, and over TCP if the reply is truncated.
   */
  readonly passedOnBy?: PassedOnBy;
  /**
   * EDNS options of the client that servers may act on, as they lie in an OPT record. A server without EDNS is asked without them.
   * Undefined: none.
   */
  readonly options?: Uint8Array | undefined;
  /**
   * The client's query, which is sent as it came; its reply is returned as it comes, with records that do not belong to the question.
   * Undefined: a query of our own is written.
   */
  readonly asReceived?: QueryMessage | undefined;
}

/** `only-tcp`: without UDP if TCP fails. */
export type PassedOnBy = 'udp' | 'tcp' | 'only-tcp' | undefined;

/** A query without its id, which each transport sets. */
export interface QueryMessage {
  /** The first two octets are zero. */
  readonly octets: Uint8Array;
  /** The first octet after the question. */
  readonly questionEnd: number;
  readonly hasEdns: boolean;
  /** The name of the question, if queries with EDNS were refused or got no reply: an answer shows that EDNS is the reason. */
  readonly withoutEdnsFor?: NameKey;
  /** As in `ForwardQuestion`. */
  readonly passedOnBy?: PassedOnBy;
  /** The original query, if this one's name is in random case. */
  readonly plain?: QueryMessage;
  /** Octets that a reply over UDP may have; a larger one counts as truncated. Undefined: as many as the transport accepts. */
  readonly maxUdpReply?: number | undefined;
  /** Whether no client asks it: it tests the server. */
  readonly isProbe?: boolean;
}

export interface ReceivedParts {
  readonly question: Question;
  readonly header: Header;
  readonly edns: Edns | undefined;
  /** Of NOTIFY: the new SOA record. Default: none. */
  readonly answers?: readonly ResourceRecord[];
}

/** Octets of a query over UDP; larger ones use TCP. */
const MAX_UDP_QUERY = 512;
const MIN_UDP_REPLY = 512;

/** A client's query, to be sent as it came: its flags, EDNS, and the case of its name. A reply that is too large for it counts as truncated. */
export function writeReceived(
  { question, header, edns, answers = [] }: ReceivedParts,
  passedOnBy: PassedOnBy,
): QueryMessage {
  const sections = { answers, authorities: [], additionals: [] };
  const octets = encodeMessage({ header: { ...header, id: 0 }, questions: [question], ...sections, edns });
  return {
    octets,
    questionEnd: HEADER_OCTETS + encodeName(question.name).length + 4,
    hasEdns: edns !== undefined,
    passedOnBy: octets.length > MAX_UDP_QUERY ? 'only-tcp' : passedOnBy,
    maxUdpReply: Math.max(edns?.udpSize ?? 0, MIN_UDP_REPLY),
  };
}

/** Whether two queries of clients are the same, octet for octet; true for none. */
export function isSameReceived(one: QueryMessage | undefined, other: QueryMessage | undefined): boolean {
  return one?.passedOnBy === other?.passedOnBy && areSameOctets(one?.octets, other?.octets);
}

/** Whether two pieces of queries are the same; true for none. */
export function areSameOctets(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined || one.length !== other.length) return false;
  return one.every((octet, index) => octet === other[index]);
}

/**
 * @param udpSize our UDP size, sent in OPT; undefined: no EDNS, for servers that refuse it
 * @param wantsAd whether to ask the server for AD (RFC 6840 section 5.7)
 */
export function writeQuery(
  question: ForwardQuestion,
  udpSize: number | undefined,
  wantsAd = false,
): QueryMessage {
  const nameEnd = writeName(question.name, scratch, HEADER_OCTETS);
  const questionEnd = nameEnd + 4;
  scratch[2] = question.recursionDesired ? 0x01 : 0;
  scratch[3] = (question.checkingDisabled ? 0x10 : 0) | (wantsAd ? 0x20 : 0);
  scratch[5] = 1;
  scratch[11] = udpSize === undefined ? 0 : 1;
  scratch[nameEnd] = question.type >> 8;
  scratch[nameEnd + 1] = question.type;
  scratch[nameEnd + 2] = question.class >> 8;
  scratch[nameEnd + 3] = question.class;
  const { passedOnBy, options } = question;
  if (udpSize === undefined)
    return { octets: scratch.slice(0, questionEnd), questionEnd, hasEdns: false, passedOnBy };
  scratch.fill(0, questionEnd, questionEnd + OPT_OCTETS);
  scratch[questionEnd + 2] = TYPE.OPT;
  scratch[questionEnd + 3] = udpSize >> 8;
  scratch[questionEnd + 4] = udpSize;
  scratch[questionEnd + 7] = question.dnssecOk ? 0x80 : 0;
  const octets = scratch.slice(0, questionEnd + OPT_OCTETS);
  if (options === undefined) return { octets, questionEnd, hasEdns: true, passedOnBy };
  return withOptions({ octets, questionEnd, hasEdns: true, passedOnBy }, options);
}

/** @param query that ends with an OPT record without options */
function withOptions({ octets, ...query }: QueryMessage, options: Uint8Array): QueryMessage {
  const whole = new Uint8Array(octets.length + options.length);
  whole.set(octets);
  whole.set(options, octets.length);
  whole[octets.length - 2] = options.length >> 8;
  whole[octets.length - 1] = options.length;
  const passedOnBy = whole.length > MAX_UDP_QUERY ? 'only-tcp' : query.passedOnBy;
  return { ...query, octets: whole, passedOnBy };
}

/** Queries are composed here and copied: small typed arrays are cheap as long as no code accesses their buffer. */
const scratch = new Uint8Array(512);

/** A copy of the query with an id. */
export function withId({ octets }: QueryMessage, id: number): Uint8Array {
  const copy = octets.slice();
  copy[0] = id >> 8;
  copy[1] = id & 0xff;
  return copy;
}

/** QR and the opcode, in the third octet. */
const IS_RESPONSE = 0x80;
const OPCODE_BITS = 0x78;

/**
 * The id of a packet; -1 if it is too short, or not a response with one question.
 *
 * @param opcodes which opcodes it may have; with `any`, `repeatsOpcode` compares it
 */
export function idOfReply(
  packet: Uint8Array,
  start: number,
  length: number,
  opcodes: 'query' | 'any' = 'query',
): number {
  if (length < HEADER_OCTETS) return -1;
  const mask = opcodes === 'any' ? IS_RESPONSE : IS_RESPONSE | OPCODE_BITS;
  if (((packet[start + 2] ?? 0) & mask) !== IS_RESPONSE) return -1;
  if (packet[start + 4] !== 0 || packet[start + 5] !== (isBareError(packet, start, length) ? 0 : 1))
    return -1;
  return ((packet[start] ?? 0) << 8) | (packet[start + 1] ?? 0);
}

/** Whether a packet has the opcode of a query. */
export function repeatsOpcode(packet: Uint8Array, start: number, query: Uint8Array): boolean {
  return (((packet[start + 2] ?? 0) ^ (query[2] ?? 0)) & OPCODE_BITS) === 0;
}

/**
 * Whether a packet is an error without the question: old servers answer queries that they do not understand with only
 * the header. It can only make the query fail, so its id is proof enough.
 */
export function isBareError(packet: Uint8Array, start: number, length: number): boolean {
  if (length !== HEADER_OCTETS) return false;
  for (let at = 4; at < HEADER_OCTETS; at += 1) if (packet[start + at] !== 0) return false;
  const rcode = (packet[start + 3] ?? 0) & 0x0f;
  return rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN;
}

/** Whether a packet repeats the question of a query, ignoring case (RFC 5452 section 9.1). */
export function repeatsQuestion(
  packet: Uint8Array,
  start: number,
  length: number,
  { octets, questionEnd }: QueryMessage,
): boolean {
  if (length < questionEnd) return false;
  const nameEnd = questionEnd - 4;
  for (let at = HEADER_OCTETS; at < nameEnd; at += 1) {
    if (LOWER_CASE[packet[start + at] ?? 0] !== LOWER_CASE[octets[at] ?? 0]) return false;
  }
  for (let at = nameEnd; at < questionEnd; at += 1) if (packet[start + at] !== octets[at]) return false;
  return true;
}
