/**
 * Queries on the slow way: read whole without trusting them, and answered by a message built to match.
 */
import { ACCEPT, accept, questionEnd } from './acceptance.ts';
import { HEADER_OCTETS, readHeader } from './header.ts';
import { decodeMessage, MIN_MESSAGE_LIMIT, readQuestion } from './message.ts';
import { OctetReader } from './octet-reader.ts';
import { type Edns, type Header, type Message, type Question, RCODE, type ResourceRecord } from './types.ts';
import { WireError } from './wire-error.ts';

/** What of a query its response has to match. */
export interface Asked {
  readonly header: Header;
  readonly question: Question | undefined;
  readonly edns: Edns | undefined;
}

export interface Query extends Asked {
  readonly kind: 'query';
  readonly question: Question;
}

/** A query that gets a response code (the whole one, above 15 with EDNS) and nothing else. */
export interface RejectedQuery extends Asked {
  readonly kind: 'error';
  readonly rcode: number;
}

export type ParsedQuery = Query | RejectedQuery | { readonly kind: 'drop' };

/**
 * Reads a packet as a query. Judges as `accept` does first, then the whole: FORMERR for what is not well formed, BADVERS
 * for EDNS above version 0. Unknown EDNS options, records in the authority section (IXFR) and signatures in the
 * additional section are no reason to refuse.
 */
export function parseQuery(bytes: Uint8Array): ParsedQuery {
  const verdict = accept(bytes, 0, bytes.length);
  if (verdict === ACCEPT.DROP) return { kind: 'drop' };
  if (verdict === ACCEPT.NOTIMP) return reject(bytes, RCODE.NOTIMP);
  if (verdict === ACCEPT.FORMERR) return reject(bytes, RCODE.FORMERR);
  try {
    return judge(decodeMessage(bytes));
  } catch (error) {
    if (error instanceof WireError) return reject(bytes, RCODE.FORMERR);
    throw error;
  }
}

/** Refuses a query of which only the header, and perhaps the question, is known to be sound. */
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
    edns: undefined,
  };
}

function judge(message: Message): Query | RejectedQuery {
  const { header, edns } = message;
  const question = message.questions[0];
  if (question === undefined) return { kind: 'error', rcode: RCODE.FORMERR, header, question, edns };
  if (edns !== undefined && edns.version > 0)
    return { kind: 'error', rcode: RCODE.BADVERS, header, question, edns };
  return { kind: 'query', header, question, edns };
}

/** What a response says beyond what its query fixes. What is left out is empty, false or NOERROR. */
export interface Reply {
  /** The whole response code. Its bits above the fourth reach only clients that sent OPT. */
  readonly rcode?: number;
  readonly authoritative?: boolean;
  readonly recursionAvailable?: boolean;
  readonly authenticData?: boolean;
  /** Whether it is known to be a part of the whole; a response that does not fit says so by itself. */
  readonly truncated?: boolean;
  readonly answers?: readonly ResourceRecord[];
  readonly authorities?: readonly ResourceRecord[];
  readonly additionals?: readonly ResourceRecord[];
  /** What we take over UDP, in octets, for clients that sent OPT. */
  readonly udpSize?: number;
}

/** What fits through nearly every path without fragments (DNS flag day 2020). */
export const DEFAULT_UDP_SIZE = 1232;

/**
 * Builds the response to a query: id, opcode, RD and CD are the query's, and so is the question with its capitals. OPT is
 * there only if the client sent one (RFC 6891 section 7), with its DO bit (RFC 3225 section 3).
 */
export function respond(asked: Asked, reply: Reply = {}): Message {
  const rcode = reply.rcode ?? RCODE.NOERROR;
  return {
    header: {
      id: asked.header.id,
      response: true,
      opcode: asked.header.opcode,
      authoritative: reply.authoritative ?? false,
      truncated: reply.truncated ?? false,
      recursionDesired: asked.header.recursionDesired,
      recursionAvailable: reply.recursionAvailable ?? false,
      authenticData: reply.authenticData ?? false,
      checkingDisabled: asked.header.checkingDisabled,
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

/**
 * The octets that a UDP response may have: 512 without EDNS, else what the client takes, and never more than `ours`
 * (RFC 6891 section 6.2.3: less than 512 counts as 512).
 */
export function udpLimit(edns: Edns | undefined, ours: number = DEFAULT_UDP_SIZE): number {
  if (edns === undefined) return MIN_MESSAGE_LIMIT;
  return Math.max(MIN_MESSAGE_LIMIT, Math.min(edns.udpSize, ours));
}
