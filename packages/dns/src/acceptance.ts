/**
 * Decides on a packet by its header and the shape of its question: the first step of every reader.
 *
 * Works in place on a packet inside a larger memory, without allocation.
 */
import { HEADER_OCTETS } from './header.ts';
import { MAX_LABEL_OCTETS, MAX_NAME_OCTETS } from './label.ts';
import { isDnssecOk, QueryRecords, writeOpt } from './query-records.ts';

export const ACCEPT = {
  /** A regular query with one question. */
  QUERY: 0,
  /** Not to be answered: a response, or too short for a header. */
  DROP: 1,
  FORMERR: 2,
  NOTIMP: 3,
} as const;

/** Bits of the third octet. */
const QR = 0x80;
const OPCODE = 0x78;
const RD = 0x01;
/** In the fourth octet. */
const CD = 0x10;

/**
 * Judges the packet of `length` octets at `start`.
 *
 * FORMERR: not exactly one question (RFC 9619), a question with compression or beyond the packet's end, records in
 * the answer section. NOTIMP: an opcode other than QUERY.
 *
 * @returns One of `ACCEPT`.
 */
export function accept(packet: Uint8Array, start: number, length: number): number {
  if (length < HEADER_OCTETS) return ACCEPT.DROP;
  const flags = packet[start + 2] ?? QR;
  if ((flags & QR) !== 0) return ACCEPT.DROP;
  if ((flags & OPCODE) !== 0) return ACCEPT.NOTIMP;
  if (packet[start + 4] !== 0 || packet[start + 5] !== 1) return ACCEPT.FORMERR;
  if (packet[start + 6] !== 0 || packet[start + 7] !== 0) return ACCEPT.FORMERR;
  return questionEnd(packet, start, length) < 0 ? ACCEPT.FORMERR : ACCEPT.QUERY;
}

/**
 * Finds the end of the first question: an uncompressed name, its type and its class.
 *
 * @returns The offset after it in `packet`, or -1 if it is malformed.
 */
export function questionEnd(packet: Uint8Array, start: number, length: number): number {
  const end = start + length;
  const nameStart = start + HEADER_OCTETS;
  let position = nameStart;
  while (position < end) {
    const label = packet[position] ?? 0;
    position += label + 1;
    if (label === 0) {
      const questionEnds = position + 4;
      return questionEnds <= end && position - nameStart <= MAX_NAME_OCTETS ? questionEnds : -1;
    }
    if (label > MAX_LABEL_OCTETS) return -1;
  }
  return -1;
}

const records = new QueryRecords();

/**
 * Turns a query into a response without records, in place. It keeps the id, opcode, RD and CD, the question if it is
 * well-formed, and OPT if it can be found (RFC 6891 section 6.1.1). The packet must have at least 12 octets.
 *
 * @param rcode The whole code; above 15 only for queries with OPT.
 * @param udpSize The UDP size in our OPT records.
 * @returns The length of the response in octets, never more than that of the query.
 */
export function writeErrorResponse(
  packet: Uint8Array,
  start: number,
  length: number,
  rcode: number,
  udpSize: number,
): number {
  const hasOneQuestion = packet[start + 4] === 0 && packet[start + 5] === 1;
  const end = hasOneQuestion ? questionEnd(packet, start, length) : -1;
  records.search(packet, start, length);
  const { opt } = records;
  const dnssecOk = opt !== 0 && isDnssecOk(packet, opt);
  packet[start + 2] = QR | ((packet[start + 2] ?? 0) & (OPCODE | RD));
  packet[start + 3] = ((packet[start + 3] ?? 0) & CD) | (rcode & 15);
  packet.fill(0, start + 4, start + HEADER_OCTETS);
  if (end >= 0) packet[start + 5] = 1;
  const recordsAt = end < 0 ? start + HEADER_OCTETS : end;
  if (opt === 0) return recordsAt - start;
  packet[start + 11] = 1;
  return writeOpt(packet, recordsAt, udpSize, rcode >> 4, dnssecOk) - start;
}
