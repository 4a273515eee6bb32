/**
 * How long HTTP caches may keep a response (RFC 8484 section 5.1), as CoreDNS computes it.
 */
import { toFullRcode } from '@portolan/dns/edns.ts';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { tryDecodeMessage } from '@portolan/dns/message.ts';
import { skipName } from '@portolan/dns/query-records.ts';
import { type Message, OPCODE, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';

/** Seconds, for responses that are errors, referrals, or without records. */
const SHORT = 5;
const MAX_SECONDS = 3600;
const NOT_KEPT: ReadonlySet<number> = new Set([TYPE.AXFR, TYPE.IXFR]);
/** In the second word of a header. */
const OPCODE_AND_RCODE = 0x780f;

/** @returns seconds, from 0 */
export function computeFreshness(response: Uint8Array): number {
  // Most responses have an answer, whose records need not be decoded.
  return answerFreshness(response) ?? freshnessOfMessage(response);
}

/** Octets of a record between its name and its data: type, class, TTL, length. */
const FIXED_OCTETS = 10;

/** @returns undefined if the response must be decoded: it has no answer, is an error or a transfer, or malformed */
function answerFreshness(response: Uint8Array): number | undefined {
  const view = new DataView(response.buffer, response.byteOffset, response.byteLength);
  const end = response.length;
  if (end < HEADER_OCTETS || view.getUint16(4) !== 1 || view.getUint16(6) === 0) return undefined;
  if ((view.getUint16(2) & OPCODE_AND_RCODE) !== 0) return undefined;
  let at = skipName(response, HEADER_OCTETS, end);
  if (at < 0 || at + 4 > end || NOT_KEPT.has(view.getUint16(at))) return undefined;
  at += 4;
  let seconds = MAX_SECONDS;
  for (let left = view.getUint16(6) + view.getUint16(8) + view.getUint16(10); left > 0; left--) {
    at = skipName(response, at, end);
    if (at < 0 || at + FIXED_OCTETS > end) return undefined;
    if (view.getUint16(at) !== TYPE.OPT) seconds = Math.min(seconds, view.getUint32(at + 4));
    else if (view.getUint8(at + 4) !== 0) return undefined;
    at += FIXED_OCTETS + view.getUint16(at + 8);
  }
  return at === end ? seconds : undefined;
}

function freshnessOfMessage(response: Uint8Array): number {
  const message = tryDecodeMessage(response);
  if (message === undefined) return 0;
  const { answers, authorities, additionals } = message;
  const records = [...answers, ...authorities, ...additionals];
  if (records.length === 0 || !isKept(message)) return SHORT;
  let seconds = MAX_SECONDS;
  for (const { ttl } of records) seconds = Math.min(seconds, ttl);
  const minimum = answers.length === 0 ? findSoaMinimum(authorities) : undefined;
  return minimum === undefined ? seconds : Math.min(seconds, minimum);
}

/** Whether it answers its question, by records or by a denial. */
function isKept(message: Message): boolean {
  const { header, questions, answers, authorities } = message;
  const rcode = toFullRcode(message);
  if (header.opcode !== OPCODE.QUERY || NOT_KEPT.has(questions[0]?.type ?? 0)) return false;
  if (rcode === RCODE.NXDOMAIN) return answers.length === 0;
  if (rcode !== RCODE.NOERROR) return false;
  const isReferral = authorities.some(({ data }) => data.kind === 'NS');
  return answers.length > 0 || findSoaMinimum(authorities) !== undefined || !isReferral;
}

/** How long a denial holds (RFC 2308 section 5): CoreDNS takes only the TTL of the SOA record. */
function findSoaMinimum(authorities: readonly ResourceRecord[]): number | undefined {
  for (const { data } of authorities) if (data.kind === 'SOA') return data.minimum;
  return undefined;
}
