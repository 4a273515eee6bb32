/**
 * Whole responses, for handlers that change the responses of those behind them.
 */
import type { WholeAnswer } from './answer.ts';

export { EMPTY_ANSWER, isResponse, toWhole as wholeAnswerOf } from '@portolan/plugin';

/** Whether readers may give the answer: they only rotate one set of addresses, and shuffle no other records. */
export function isReadAsStored({ answers }: WholeAnswer, hasRotation: boolean): boolean {
  const count = (kinds: readonly string[]) => answers.filter(({ data }) => kinds.includes(data.kind)).length;
  return (hasRotation || count(['A', 'AAAA']) < 2) && count(['MX']) < 2;
}
