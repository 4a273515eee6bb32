/**
 * Cached answers for handlers: read back as records, with their remaining TTLs.
 */
import { HEADER_OCTETS, headerFlags } from '@portolan/dns/header.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { type AbsoluteName, OPCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import type { AnswerBody, CachedEntry, CachedQuestion } from '../table/types.ts';
import type { Forwarded } from './answer.ts';

/**
 * @param now seconds of the monotonic clock that all threads share
 * @param asked the name as the client writes it
 */
export function replyFromEntry(entry: CachedEntry, now: number, asked: AbsoluteName): Forwarded {
  return replyFromBody(entry, entry.body, Math.max(0, now - entry.stored), asked);
}

/**
 * @param age seconds to subtract from every TTL
 * @param asked the name as the client writes it: the records repeat its capitals, as in the responses of readers
 */
export function replyFromBody(
  question: Pick<CachedQuestion, 'type' | 'class'>,
  body: AnswerBody,
  age: number,
  asked: AbsoluteName,
): Forwarded {
  const { answers, authorities, additionals } = decodeMessage(
    toMessage({ ...question, name: encodeName(asked) }, body),
  );
  const aged = (records: readonly ResourceRecord[]) =>
    age === 0 ? records : records.map((record) => ({ ...record, ttl: Math.max(0, record.ttl - age) }));
  return {
    kind: 'forwarded',
    rcode: body.rcode,
    authoritative: false,
    truncated: false,
    authenticData: body.authenticData ?? false,
    answers: aged(answers),
    authorities: aged(authorities),
    additionals: aged(additionals),
    memory: undefined,
  };
}

/** An answer as a response, with its TTLs at the time that it was stored. */
export function messageFromEntry(entry: CachedEntry): Uint8Array {
  const { rcode, authenticData = false } = entry.body;
  const octets = toMessage(entry, entry.body);
  const flags = headerFlags({
    id: 0,
    response: true,
    opcode: OPCODE.QUERY,
    rcode,
    authoritative: false,
    truncated: false,
    recursionDesired: false,
    recursionAvailable: entry.recursionAvailable,
    authenticData,
    checkingDisabled: false,
  });
  new DataView(octets.buffer).setUint16(2, flags);
  return octets;
}

/** Restores the whole message: names in the body are compressed against the question before it. */
function toMessage(
  { name, type, class: dnsClass }: Pick<CachedQuestion, 'type' | 'class'> & { readonly name: Uint8Array },
  body: AnswerBody,
): Uint8Array {
  const records = HEADER_OCTETS + name.length + 4;
  const octets = new Uint8Array(records + body.bytes.length);
  const view = new DataView(octets.buffer);
  view.setUint16(4, 1);
  view.setUint16(6, body.answerCount);
  view.setUint16(8, body.authorityCount);
  view.setUint16(10, body.additionalCount);
  octets.set(name, HEADER_OCTETS);
  view.setUint16(records - 4, type);
  view.setUint16(records - 2, dnsClass);
  octets.set(body.bytes, records);
  return octets;
}
