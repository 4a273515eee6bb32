/**
 * Decides which packets server blocks accept as queries: all that CoreDNS answers, which is more than our own front ends do.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { tryDecodeMessage } from '@portolan/dns/message.ts';
import { type ParsedQuery, parseQuery } from '@portolan/dns/query.ts';
import { type Header, type Message, OPCODE, RCODE } from '@portolan/dns/types.ts';

/** `empty`: a header that announces one question, and nothing behind it. The server blocks see it, and none of them answers. */
export type AcceptedQuery = ParsedQuery | { readonly kind: 'empty'; readonly header: Header };

/** Accepts NOTIFY like a query. Ignores octets behind the last record, and a record or two in sections that should be empty. */
export function acceptQuery(packet: Uint8Array): AcceptedQuery {
  const strict = parseQuery(packet);
  if (strict.kind !== 'error') return strict;
  if (packet.length === HEADER_OCTETS && strict.rcode === RCODE.FORMERR && announcesOne(packet))
    return { kind: 'empty', header: strict.header };
  const message = tryDecodeMessage(packet);
  const question = message?.questions[0];
  if (message === undefined || question === undefined || !isAccepted(message)) return toRejection(strict);
  const { header, edns, answers, authorities } = message;
  return { kind: 'query', header, question, edns, answers, authorities };
}

/** The response to a malformed NOTIFY is one to a malformed query, as in CoreDNS. */
function toRejection(strict: ParsedQuery): ParsedQuery {
  if (strict.kind !== 'error' || strict.header.opcode !== OPCODE.NOTIFY) return strict;
  return { ...strict, rcode: RCODE.FORMERR, header: { ...strict.header, opcode: OPCODE.QUERY } };
}

/** Whether the header counts one question. */
function announcesOne(packet: Uint8Array): boolean {
  return packet[4] === 0 && packet[5] === 1;
}

function isAccepted({ header, questions, answers, authorities, additionals, edns }: Message): boolean {
  const { opcode } = header;
  return (
    (opcode === OPCODE.QUERY || opcode === OPCODE.NOTIFY) &&
    questions.length === 1 &&
    answers.length <= 1 &&
    authorities.length <= 1 &&
    additionals.length + (edns === undefined ? 0 : 1) <= 2
  );
}
