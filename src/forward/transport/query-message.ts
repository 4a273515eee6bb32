/**
 * Queries as they leave, and the test that a reply belongs to one.
 */
import { headerFlags } from '../../wire/header.ts';
import { LOWER_CASE } from '../../wire/label.ts';
import { encodeName } from '../../wire/name.ts';
import { type Question, TYPE } from '../../wire/types.ts';

/** A question with what else must be equal for two of them to have the same answer. */
export interface ForwardQuestion extends Question {
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  readonly recursionDesired: boolean;
}

/** A query without its id, which each transport chooses for itself. */
export interface QueryMessage {
  /** The first two octets are zero. */
  readonly octets: Uint8Array;
  /** The first octet behind the question. */
  readonly questionEnd: number;
  readonly hasEdns: boolean;
}

const HEADER_OCTETS = 12;
const OPT_OCTETS = 11;

/** @param udpSize octets of a reply that we take over UDP, told by EDNS; undefined: no EDNS, for servers that refuse it */
export function writeQuery(question: ForwardQuestion, udpSize: number | undefined): QueryMessage {
  const name = encodeName(question.name);
  const questionEnd = HEADER_OCTETS + name.length + 4;
  const octets = new Uint8Array(questionEnd + (udpSize === undefined ? 0 : OPT_OCTETS));
  const view = new DataView(octets.buffer);
  view.setUint16(2, headerFlags({ ...QUERY_HEADER, ...question }));
  view.setUint16(4, 1);
  octets.set(name, HEADER_OCTETS);
  view.setUint16(questionEnd - 4, question.type);
  view.setUint16(questionEnd - 2, question.class);
  if (udpSize !== undefined) {
    view.setUint16(10, 1);
    view.setUint16(questionEnd + 1, TYPE.OPT);
    view.setUint16(questionEnd + 3, udpSize);
    view.setUint8(questionEnd + 7, question.dnssecOk ? 0x80 : 0);
  }
  return { octets, questionEnd, hasEdns: udpSize !== undefined };
}

const QUERY_HEADER = {
  id: 0,
  response: false,
  opcode: 0,
  authoritative: false,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: 0,
} as const;

/** A copy of the query with an id. */
export function withId({ octets }: QueryMessage, id: number): Uint8Array {
  const copy = new Uint8Array(octets);
  copy[0] = id >> 8;
  copy[1] = id & 0xff;
  return copy;
}

/** The id of a packet, or -1 for one that is too short or is no response to a standard query. */
export function idOfReply(packet: Uint8Array, start: number, length: number): number {
  if (length < HEADER_OCTETS) return -1;
  // QR and the opcode; then the count of questions.
  if (((packet[start + 2] ?? 0) & 0xf8) !== 0x80) return -1;
  if (packet[start + 4] !== 0 || packet[start + 5] !== 1) return -1;
  return ((packet[start] ?? 0) << 8) | (packet[start + 1] ?? 0);
}

/** Whether a packet repeats the question of a query, letters compared without case (RFC 5452 section 9.1). */
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
