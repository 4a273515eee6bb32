/**
 * The response of a server block for handlers that log or count. As in CoreDNS, it lacks the client's OPT record.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { respond } from '@portolan/dns/query.ts';
import { type Edns, type Message, OPCODE, RCODE, TYPE } from '@portolan/dns/types.ts';
import { type Answer, type OwnEdns, toReply } from './answer.ts';
import type { Query } from './query.ts';

/** A response that a handler has made. */
export interface DescribedResponse {
  /** The whole response code. */
  readonly rcode: number;
  readonly message: Message;
  /** Octets, without compression of names. */
  readonly size: number;
}

/** Answers that are only a response code: the server makes the response, not a handler. */
const CODES: ReadonlySet<Answer['kind']> = new Set([
  'refused',
  'servfail',
  'notimp',
  'formerr',
  'overloaded',
]);

/** Undefined: no handler made a response. The server sends none, or one with only a response code. */
export function describeResponse(query: Query, answer: Answer): DescribedResponse | undefined {
  return CODES.has(answer.kind) ? undefined : describeSent(query, answer);
}

/** The response that the client receives, made by a handler or by the server. Undefined: none is sent. */
export function describeSent(query: Query, answer: Answer): DescribedResponse | undefined {
  if (answer.kind === 'drop') return undefined;
  const reply = toReply(answer);
  const rcode = reply.rcode ?? 0;
  const edns = answer.kind === 'message' && answer.edns ? toEdns(answer.edns) : undefined;
  const asked = { header: query.repeated.header, question: query.question, edns: undefined };
  const response = respond(asked, reply);
  const { authenticData = false } = reply;
  const message = { ...response, header: { ...response.header, authenticData }, edns };
  return { rcode, message, size: computeUncompressedSize(message) };
}

/** The response code that the client gets; undefined: no response. */
export function findRcode(answer: Answer): number | undefined {
  return answer.kind === 'drop' ? undefined : (toReply(answer).rcode ?? 0);
}

function toEdns(own: OwnEdns): Edns {
  return { version: 0, extendedRcode: 0, ...own };
}

function computeUncompressedSize(message: Message): number {
  return encodeMessage(message, { compresses: false }).length;
}

/** Classes of responses in CoreDNS's log. */
export type ResponseClass = 'success' | 'denial' | 'error';

/** Types of responses in CoreDNS (plugin/pkg/response). */
export type ResponseType =
  | 'NOERROR'
  | 'NXDOMAIN'
  | 'SERVERERROR'
  | 'NODATA'
  | 'DELEGATION'
  | 'META'
  | 'UPDATE'
  | 'OTHERERROR';

export function findResponseType(response: DescribedResponse | undefined): ResponseType {
  if (response === undefined) return 'OTHERERROR';
  const { rcode, message } = response;
  const { answers, authorities, header, questions } = message;
  if (header.opcode === OPCODE.UPDATE) return 'UPDATE';
  const type = questions[0]?.type;
  if (header.opcode === OPCODE.NOTIFY || type === TYPE.IXFR || type === TYPE.AXFR) return 'META';
  const has = (kind: 'SOA' | 'NS') => authorities.some(({ data }) => data.kind === kind);
  return findTypeByCounts(rcode, answers.length, has('SOA'), has('NS'));
}

/** The type of a response that is not a zone transfer. @param hasSoa whether its authority section has such a record */
function findTypeByCounts(rcode: number, answers: number, hasSoa: boolean, hasNs = false): ResponseType {
  if (rcode === RCODE.SERVFAIL || rcode === RCODE.NOTIMP) return 'SERVERERROR';
  if (rcode === RCODE.NXDOMAIN) return answers === 0 ? 'NXDOMAIN' : 'OTHERERROR';
  if (rcode !== RCODE.NOERROR) return 'OTHERERROR';
  if (answers > 0) return 'NOERROR';
  if (hasSoa) return 'NODATA';
  return hasNs ? 'DELEGATION' : 'NOERROR';
}

export function classifyResponse(response: DescribedResponse | undefined): ResponseClass {
  return toClass(findResponseType(response));
}

/** The class of a response that is not a zone transfer. @param hasSoa whether its authority section has a SOA record */
export function classOfCounts(rcode: number, answers: number, hasSoa: boolean): ResponseClass {
  return toClass(findTypeByCounts(rcode, answers, hasSoa));
}

function toClass(type: ResponseType): ResponseClass {
  if (type === 'NOERROR' || type === 'DELEGATION') return 'success';
  return type === 'NXDOMAIN' || type === 'NODATA' ? 'denial' : 'error';
}
