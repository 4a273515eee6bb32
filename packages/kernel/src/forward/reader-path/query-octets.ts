/**
 * The query that a reader sends for a client's question: the question, RD, the client's CD, and an OPT record if the server supports EDNS,
 * with the options of the client that are passed on.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { writeOpt } from '@portolan/dns/query-records.ts';
import type { QuestionReader } from '../../table/question.ts';

/** Octets of the longest query. */
export const MAX_QUERY_OCTETS = 320;
const FLAG = { RD: 0x01, AD: 0x20, CD: 0x10 } as const;

/** The settings of our queries. */
export interface QueryForm {
  /** In octets; 0: without EDNS. */
  readonly udpSize: number;
  readonly trustsAd: boolean;
}

/**
 * Writes the query for a question at a place. It has at most as many octets as the client's.
 *
 * @param passed octets of its options that are passed on: all or none
 * @returns its end
 */
export function writeQuery(
  octets: Uint8Array,
  at: number,
  id: number,
  question: QuestionReader,
  form: QueryForm,
  passed: number,
): number {
  octets[at] = id >> 8;
  octets[at + 1] = id;
  octets[at + 2] = FLAG.RD;
  octets[at + 3] = (question.checkingDisabled ? FLAG.CD : 0) | (form.trustsAd ? FLAG.AD : 0);
  octets.fill(0, at + 4, at + HEADER_OCTETS);
  octets[at + 5] = 1;
  octets[at + 11] = form.udpSize === 0 ? 0 : 1;
  const { name, nameLength, type, dnsClass } = question;
  let to = at + HEADER_OCTETS;
  for (let octet = 0; octet < nameLength; octet++) octets[to++] = name[octet] ?? 0;
  octets[to++] = type >> 8;
  octets[to++] = type;
  octets[to++] = dnsClass >> 8;
  octets[to++] = dnsClass;
  if (form.udpSize === 0) return to;
  to = writeOpt(octets, to, form.udpSize, 0, question.dnssecOk);
  if (passed === 0) return to;
  const { packet, optionsStart } = question;
  octets[to - 2] = passed >> 8;
  octets[to - 1] = passed;
  for (let octet = 0; octet < passed; octet++) octets[to++] = packet[optionsStart + octet] ?? 0;
  return to;
}
