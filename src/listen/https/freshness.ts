/**
 * How long HTTP caches may keep a response (RFC 8484 section 5.1), as CoreDNS computes it.
 */
import { decodeMessage } from '../../wire/message.ts';
import { type Message, OPCODE, RCODE, type ResourceRecord, TYPE } from '../../wire/types.ts';
import { WireError } from '../../wire/wire-error.ts';

/** Seconds, for responses that are errors, referrals, or without records. */
const SHORT = 5;
const MAX_SECONDS = 3600;
const NOT_KEPT: ReadonlySet<number> = new Set([TYPE.AXFR, TYPE.IXFR]);

/** @returns seconds, from 0 */
export function freshnessOf(response: Uint8Array): number {
  let message: Message;
  try {
    message = decodeMessage(response);
  } catch (error) {
    if (error instanceof WireError) return 0;
    throw error;
  }
  const { answers, authorities, additionals } = message;
  const records = [...answers, ...authorities, ...additionals];
  if (records.length === 0 || !isKept(message)) return SHORT;
  let seconds = MAX_SECONDS;
  for (const { ttl } of records) seconds = Math.min(seconds, ttl);
  const minimum = answers.length === 0 ? minimumOf(authorities) : undefined;
  return minimum === undefined ? seconds : Math.min(seconds, minimum);
}

/** Whether it answers its question, by records or by a denial. */
function isKept({ header, questions, answers, authorities, edns }: Message): boolean {
  const rcode = header.rcode | ((edns?.extendedRcode ?? 0) << 4);
  if (header.opcode !== OPCODE.QUERY || NOT_KEPT.has(questions[0]?.type ?? 0)) return false;
  if (rcode === RCODE.NXDOMAIN) return answers.length === 0;
  if (rcode !== RCODE.NOERROR) return false;
  const isReferral = authorities.some(({ data }) => data.kind === 'NS');
  return answers.length > 0 || minimumOf(authorities) !== undefined || !isReferral;
}

/** How long a denial holds (RFC 2308 section 5): CoreDNS takes only the TTL of the SOA record. */
function minimumOf(authorities: readonly ResourceRecord[]): number | undefined {
  for (const { data } of authorities) if (data.kind === 'SOA') return data.minimum;
  return undefined;
}
