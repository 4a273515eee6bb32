/**
 * Converts any answer to a whole response, for handlers that change the responses of those behind them.
 */
import type { Answer, WholeAnswer } from './answer.ts';
import { replyOf } from './response.ts';

const UNSAID: ReadonlySet<Answer['kind']> = new Set([
  'refused',
  'servfail',
  'notimp',
  'formerr',
  'overloaded',
  'drop',
]);

/**
 * Whether an answer is a response, not only a code that the server turns into one. Handlers that change responses do not change
 * codes.
 */
export function isResponse(answer: Answer): boolean {
  return !UNSAID.has(answer.kind);
}

export function wholeAnswerOf(answer: Exclude<Answer, { kind: 'drop' }>): WholeAnswer {
  if (answer.kind === 'message') return answer;
  const {
    rcode = 0,
    authoritative = false,
    truncated = false,
    authenticData = false,
    ...sections
  } = replyOf(answer);
  const { answers = [], authorities = [], additionals = [] } = sections;
  return {
    ...EMPTY_ANSWER,
    rcode,
    authoritative,
    truncated,
    recursionAvailable: answer.kind === 'forwarded',
    authenticData,
    answers,
    authorities,
    additionals,
    ...('reason' in answer && answer.reason !== undefined && { reason: answer.reason }),
    ...(answer.kind === 'forwarded' && {
      extendedError: answer.extendedError,
      passedErrors: answer.passedErrors,
    }),
  };
}

/** An empty response, to be filled. */
export const EMPTY_ANSWER: WholeAnswer = {
  kind: 'message',
  rcode: 0,
  authoritative: false,
  truncated: false,
  recursionAvailable: false,
  authenticData: false,
  answers: [],
  authorities: [],
  additionals: [],
};

/** Whether readers may give the answer: they only rotate one set of addresses, and shuffle no other records. */
export function isReadAsStored({ answers }: WholeAnswer, hasRotation: boolean): boolean {
  const count = (kinds: readonly string[]) => answers.filter(({ data }) => kinds.includes(data.kind)).length;
  return (hasRotation || count(['A', 'AAAA']) < 2) && count(['MX']) < 2;
}
