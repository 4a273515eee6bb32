/**
 * Remembering answers in the table: the memo rule.
 *
 * An answer is remembered if a handler gave it a lifetime, no handler looked at the client on the way, the client asked for
 * recursion, and what the answer was made from is still what it was when the question came.
 */

import { toCachedQuestion } from '../forward/question-key.ts';
import { writeAnswerBody } from '../table/answer-body.ts';
import type { CachedAnswer } from '../table/types.ts';
import { RCODE } from '../wire/types.ts';
import type { Answer } from './answer.ts';
import type { Query } from './query.ts';
import { replyOf } from './response.ts';

/**
 * @param before a number that grows with every change of where questions go and what is done to answers, when the
 *   question came. Names of our own zones do not count: they are never remembered.
 * @param now the same number, now
 */
export function isCacheable(query: Query, answer: Answer, before: number, now: number): boolean {
  return lifetimeOf(answer) > 0 && before === now && query.recursionDesired && !query.clientWasRead;
}

function lifetimeOf(answer: Answer): number {
  if (answer.kind === 'forwarded') return answer.memory?.lifetime ?? 0;
  return 'lifetime' in answer ? (answer.lifetime ?? 0) : 0;
}

/**
 * The answer to a query as the table caches it; nothing if it has no such form.
 *
 * @param outcome the counters that hits add to
 */
export function toCachedAnswer(
  query: Query,
  answer: Exclude<Answer, { kind: 'drop' }>,
  recursionAvailable: boolean,
  outcome: number,
): CachedAnswer | undefined {
  if (answer.kind === 'forwarded') return answer.memory;
  const written = writeAnswerBody(query.question, { ...NOTHING, ...replyOf(answer) });
  const lifetime = lifetimeOf(answer);
  return (
    written && { ...toCachedQuestion(query.questionKey), recursionAvailable, ...written, lifetime, outcome }
  );
}

const NOTHING = {
  rcode: RCODE.NOERROR,
  authoritative: false,
  answers: [],
  authorities: [],
  additionals: [],
};
