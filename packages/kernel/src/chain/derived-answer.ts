/**
 * The memo rule: which answers of the chain the table may store.
 *
 * It may store an answer only if a handler gave it a lifetime and the client asked for recursion. Besides, no handler may have
 * read the client, and the generation must be the same as when the question came.
 */
import { RCODE } from '@portolan/dns/types.ts';
import { toCachedQuestion } from '../forward/question-key.ts';
import { writeAnswerBody } from '../table/answer-body.ts';
import type { CachedAnswer } from '../table/types.ts';
import { type Answer, type Forwarded, toReply } from './answer.ts';
import type { Query } from './query.ts';

/**
 * @param before generation when the question came: it grows with every change of where questions go and how answers are
 *   processed. Changes of our own zones do not count: their answers are never stored.
 * @param now generation now
 */
export function isCacheable(query: Query, answer: Answer, before: number, now: number): boolean {
  return computeLifetime(answer) > 0 && before === now && query.recursionDesired && !query.clientWasRead;
}

function computeLifetime(answer: Answer): number {
  if (answer.kind === 'forwarded') return storedForm(answer)?.lifetime ?? 0;
  if (answer.kind === 'records' && answer.truncated === true) return 0;
  return 'lifetime' in answer ? (answer.lifetime ?? 0) : 0;
}

/**
 * The answer to a query as the table caches it; undefined if it has no such form.
 *
 * @param outcome the counters that hits add to
 */
export function toCachedAnswer(
  query: Query,
  answer: Exclude<Answer, { kind: 'drop' }>,
  recursionAvailable: boolean,
  outcome: number,
): CachedAnswer | undefined {
  if (answer.kind === 'forwarded') return storedForm(answer);
  const written = writeAnswerBody(query.question, { ...NOTHING, ...toReply(answer) });
  const lifetime = computeLifetime(answer);
  return (
    written && { ...toCachedQuestion(query.questionKey), recursionAvailable, ...written, lifetime, outcome }
  );
}

function storedForm({ memory }: Forwarded): CachedAnswer | undefined {
  // Only the forwarder makes one.
  return memory as CachedAnswer | undefined;
}

const NOTHING = {
  rcode: RCODE.NOERROR,
  authoritative: false,
  answers: [],
  authorities: [],
  additionals: [],
};
