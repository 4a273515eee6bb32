/**
 * Whole responses, for handlers that change the responses of those behind them.
 */
import { toFullRcode } from '@portolan/dns/edns.ts';
import type { Message } from '@portolan/dns/types.ts';
import type { WholeAnswer } from './answer.ts';

export { EMPTY_ANSWER, isResponse, toWhole as toWholeAnswer } from '@portolan/plugin';

/** The answer that a message carries, with the flags of its sender. Its OPT record is left out. */
export function messageToAnswer(message: Message): WholeAnswer {
  const { header, answers, authorities, additionals } = message;
  const { authoritative, truncated, recursionAvailable, authenticData } = header;
  return {
    kind: 'message',
    rcode: toFullRcode(message),
    authoritative,
    truncated,
    recursionAvailable,
    authenticData,
    answers,
    authorities,
    additionals,
  };
}

/** Whether readers may give the answer: they only rotate one set of addresses, and shuffle no other records. */
export function isReadAsStored({ answers }: WholeAnswer, hasRotation: boolean): boolean {
  const count = (kinds: readonly string[]) => answers.filter(({ data }) => kinds.includes(data.kind)).length;
  return (hasRotation || count(['A', 'AAAA']) < 2) && count(['MX']) < 2;
}
