/**
 * Replies of upstream doubles.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import type { Message, Question, ResourceRecord } from '@portolan/dns/types.ts';

/** A reply with these changes, as octets. Without them, the name has the address 192.0.2.1. */
export function reply(query: Message, changes: Partial<Message> = {}): Uint8Array {
  return encodeMessage(replyMessage(query, changes));
}

export function replyMessage(query: Message, changes: Partial<Message> = {}): Message {
  const header = { ...query.header, response: true, recursionAvailable: true };
  return { ...query, header, answers: [makeAddressRecord(query, '192.0.2.1')], ...changes };
}

/** An address record of the name that was asked for, with a TTL in seconds. */
export function makeAddressRecord(query: Message, address: string, ttl = 60): ResourceRecord {
  const { name } = getQuestion(query);
  return { name, class: 1, ttl, data: { kind: 'A', address } };
}

export function getQuestion({ questions: [question] }: Message): Question {
  if (question === undefined) throw new Error('a query without a question');
  return question;
}
