/**
 * Decides which packets server blocks accept as queries: all that CoreDNS answers, which is more than our own front ends do.
 */
import { decodeMessage } from '../../wire/message.ts';
import { type ParsedQuery, parseQuery } from '../../wire/query.ts';
import { type Message, OPCODE } from '../../wire/types.ts';
import { WireError } from '../../wire/wire-error.ts';

/** Accepts NOTIFY like a query. Ignores octets behind the last record, and a record or two in sections that should be empty. */
export function acceptQuery(packet: Uint8Array): ParsedQuery {
  const strict = parseQuery(packet);
  if (strict.kind !== 'error') return strict;
  const message = decode(packet);
  const question = message?.questions[0];
  if (message === undefined || question === undefined || !isAccepted(message)) return strict;
  return { kind: 'query', header: message.header, question, edns: message.edns };
}

function decode(packet: Uint8Array): Message | undefined {
  try {
    return decodeMessage(packet);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
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
