/**
 * Queries on the slow path: parsed completely without trusting them, and answered by a matching message.
 */
import { ACCEPT, accept, questionEnd } from './acceptance.ts';
import { MAX_PLAIN_RCODE, readEdns } from './edns.ts';
import { HEADER_OCTETS, readHeader, uint16At } from './header.ts';
import { decodeMessage, readQuestion } from './message.ts';
import { ROOT } from './name.ts';
import { OctetReader } from './octet-reader.ts';
import { isDnssecOk, QueryRecords, readEdnsVersion, readUdpSize } from './query-records.ts';
import { DEFAULT_UDP_SIZE } from './response-size.ts';
import {
  type Edns,
  type Header,
  type Message,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from './types.ts';
import { WireError } from './wire-error.ts';

/** The parts of a query that its response must match. */
export interface Asked {
  readonly header: Header;
  readonly question: Question | undefined;
  readonly edns: Edns | undefined;
}

export interface AnswerableQuery extends Asked {
  readonly kind: 'query';
  readonly question: Question;
  /** Of NOTIFY: the new SOA record (RFC 1996 section 3.7). Default: none. */
  readonly answers?: readonly ResourceRecord[];
  /** Of IXFR: the SOA record of the client's zone (RFC 1995 section 3). */
  readonly authorities: readonly ResourceRecord[];
}

/** A query whose response has only a response code (the whole one, above 15 with EDNS). */
export interface RejectedQuery extends Asked {
  readonly kind: 'error';
  readonly rcode: number;
}

export type ParsedQuery = AnswerableQuery | RejectedQuery | { readonly kind: 'drop' };

/**
 * Parses a packet as a query, as readers do: FORMERR if `accept` or `QueryRecords` refuses it (octets after the last record
 * included, as in Knot), BADVERS for EDNS above version 0. It accepts unknown EDNS options, records in the authority section
 * (IXFR) and signatures in the additional section. It reads the data of these records only in the authority section of IXFR.
 */
export function parseQuery(bytes: Uint8Array): ParsedQuery {
  const verdict = accept(bytes, 0, bytes.length);
  if (verdict === ACCEPT.DROP) return { kind: 'drop' };
  if (verdict === ACCEPT.NOTIMP) return reject(bytes, RCODE.NOTIMP);
  if (verdict === ACCEPT.FORMERR || !areRecordsSound(bytes)) return reject(bytes, RCODE.FORMERR);
  const { opt } = records;
  if (opt > 0 && readEdnsVersion(bytes, opt) > 0) return reject(bytes, RCODE.BADVERS);
  const from = new OctetReader(bytes);
  const header = readHeader(from.uint16(), from.uint16());
  from.position = HEADER_OCTETS;
  const question = readQuestion(from);
  const edns = opt === 0 ? undefined : readOptAt(bytes, opt);
  if (question.type !== TYPE.IXFR) return { kind: 'query', header, question, edns, authorities: NO_RECORDS };
  return { kind: 'query', header, question, edns, authorities: readAuthorities(bytes) };
}

/** None if their data is malformed: readers do not read it either. */
function readAuthorities(bytes: Uint8Array): readonly ResourceRecord[] {
  try {
    return decodeMessage(bytes).authorities;
  } catch (error) {
    if (error instanceof WireError) return NO_RECORDS;
    throw error;
  }
}

const NO_RECORDS: readonly ResourceRecord[] = [];

/** @param opt offset of an OPT record whose options are sound */
function readOptAt(bytes: Uint8Array, opt: number): Edns {
  const from = new OctetReader(bytes);
  // Behind its owner, the root, and its type.
  from.position = opt + 3;
  return readEdns(ROOT, from);
}

const records = new QueryRecords();

/** Whether the records of a query with a well-formed question fill the packet exactly. */
function areRecordsSound(bytes: Uint8Array): boolean {
  const others = uint16At(bytes, 6) + uint16At(bytes, 8);
  const additionals = uint16At(bytes, 10);
  return records.read(bytes, questionEnd(bytes, 0, bytes.length), bytes.length, others, additionals);
}

/** The part of an OPT record that a response repeats, whether or not the rest of the query is well-formed. */
function findEdns(bytes: Uint8Array): Edns | undefined {
  records.search(bytes, 0, bytes.length);
  const { opt } = records;
  if (opt === 0) return undefined;
  const udpSize = readUdpSize(bytes, opt);
  const dnssecOk = isDnssecOk(bytes, opt);
  return { version: 0, udpSize, dnssecOk, extendedRcode: 0, options: [] };
}

/** Rejects a query with at least a complete header; its question may be malformed. */
function reject(bytes: Uint8Array, rcode: number): RejectedQuery {
  const from = new OctetReader(bytes);
  const header = readHeader(from.uint16(), from.uint16());
  const isSound = from.uint16() === 1 && questionEnd(bytes, 0, bytes.length) > 0;
  from.position = HEADER_OCTETS;
  return {
    kind: 'error',
    rcode,
    header,
    question: isSound ? readQuestion(from) : undefined,
    edns: findEdns(bytes),
  };
}

/** The parts of a response that its query does not fix. Defaults: empty, false or NOERROR. */
export interface Reply {
  /** The whole response code. One above 15 reaches only clients that sent OPT; others get SERVFAIL. */
  readonly rcode?: number;
  readonly authoritative?: boolean;
  readonly recursionAvailable?: boolean;
  /** Undefined: as in the query. Likewise for the next field. */
  readonly recursionDesired?: boolean;
  readonly checkingDisabled?: boolean;
  /** Whether all records are validated; reported only to clients that ask for it. */
  readonly authenticData?: boolean;
  /** Whether records are missing; a response that does not fit sets TC by itself. */
  readonly truncated?: boolean;
  readonly answers?: readonly ResourceRecord[];
  readonly authorities?: readonly ResourceRecord[];
  readonly additionals?: readonly ResourceRecord[];
  /** Our UDP size in octets, for clients that sent OPT. */
  readonly udpSize?: number;
}

/**
 * Builds the response to a query. It repeats the id, opcode, RD and CD, and the question with its capitals. It has OPT
 * only if the client sent one (RFC 6891 section 7), with its DO bit (RFC 3225 section 3).
 */
export function respond(asked: Asked, reply: Reply = {}): Message {
  const given = reply.rcode ?? RCODE.NOERROR;
  const rcode = given > MAX_PLAIN_RCODE && asked.edns === undefined ? RCODE.SERVFAIL : given;
  return {
    header: {
      id: asked.header.id,
      response: true,
      opcode: asked.header.opcode,
      authoritative: reply.authoritative ?? false,
      truncated: reply.truncated ?? false,
      recursionDesired: reply.recursionDesired ?? asked.header.recursionDesired,
      recursionAvailable: reply.recursionAvailable ?? false,
      authenticData: reply.authenticData === true && wantsAuthenticData(asked),
      checkingDisabled: reply.checkingDisabled ?? asked.header.checkingDisabled,
      rcode: rcode & 15,
    },
    questions: asked.question === undefined ? [] : [asked.question],
    answers: reply.answers ?? [],
    authorities: reply.authorities ?? [],
    additionals: reply.additionals ?? [],
    edns: asked.edns && {
      version: 0,
      udpSize: reply.udpSize ?? DEFAULT_UDP_SIZE,
      dnssecOk: asked.edns.dnssecOk,
      extendedRcode: rcode >> 4,
      options: [],
    },
  };
}

/** RFC 6840 section 5.8: AD is for clients that set AD or DO. */
export function wantsAuthenticData({ header, edns }: Pick<Asked, 'header' | 'edns'>): boolean {
  return header.authenticData || edns?.dnssecOk === true;
}
