/**
 * Remembering answers in the table: the memo rule.
 *
 * An answer is remembered if a handler gave it a lifetime, nobody looked at the client on the way, the client asked for
 * recursion, and what the answer was made from is still what it was when the question came.
 */
import type { AnswerBody, CachedAnswer, CachedQuestion, Rotation } from '../table/types.ts';
import { MessageWriter } from '../wire/message-writer.ts';
import { encodeName } from '../wire/name.ts';
import type { Reply } from '../wire/query.ts';
import { type Question, RCODE, type ResourceRecord } from '../wire/types.ts';
import type { Answer } from './answer.ts';
import type { Query } from './query.ts';
import { replyOf } from './response.ts';

/**
 * @param before a number that grows with every change of where questions go and what is done to answers, when the
 *   question came. Names of our own zones do not count: they are never remembered.
 * @param now the same number, now
 */
export function isMemorable(query: Query, answer: Answer, before: number, now: number): boolean {
  return lifetimeOf(answer) > 0 && before === now && query.recursionDesired && !query.clientWasRead;
}

function lifetimeOf(answer: Answer): number {
  if (answer.kind === 'forwarded') return answer.memory?.lifetime ?? 0;
  return 'lifetime' in answer ? (answer.lifetime ?? 0) : 0;
}

const writer = new MessageWriter();
/** Octets of a record before its data when its owner is a pointer: pointer, type, class, TTL, length. */
const FIXED_OCTETS = 12;

/** What the answer to a query is remembered by. */
export function cachedQuestionOf({ question, key, edns, checkingDisabled }: Query): CachedQuestion {
  return {
    name: encodeName(key),
    type: question.type,
    class: question.class,
    dnssecOk: edns?.dnssecOk ?? false,
    checkingDisabled,
  };
}

/**
 * The answer to a query as the table caches it. Records that do not fit into a message are left out.
 *
 * @param metricsId the counter that hits add to, 0 to 255
 */
export function toCachedAnswer(
  query: Query,
  answer: Exclude<Answer, { kind: 'drop' }>,
  recursionAvailable: boolean,
  metricsId: number,
): CachedAnswer {
  if (answer.kind === 'forwarded' && answer.memory !== undefined) return answer.memory;
  const { body, ttlOffsets } = writeBody({ ...query.question, name: query.key }, replyOf(answer));
  const lifetime = lifetimeOf(answer);
  return { ...cachedQuestionOf(query), recursionAvailable, body, ttlOffsets, lifetime, metricsId };
}

function writeBody(question: Question, reply: Reply): { body: AnswerBody; ttlOffsets: readonly number[] } {
  writer.start();
  writer.question(question);
  const start = writer.length;
  const ttlOffsets: number[] = [];
  const starts: number[] = [];
  const write = (
    section: 'answers' | 'authorities' | 'additionals',
    records: readonly ResourceRecord[] = [],
  ) => {
    let count = 0;
    for (const record of records) {
      const at = writer.length;
      if (!writer.record(section, record)) break;
      if (section === 'answers') starts.push(at - start);
      ttlOffsets.push(writer.ttlOffset - start);
      count += 1;
    }
    return count;
  };
  const answerCount = write('answers', reply.answers);
  const authorityCount = write('authorities', reply.authorities);
  const additionalCount = write('additionals', reply.additionals);
  const body: AnswerBody = {
    rcode: (reply.rcode ?? RCODE.NOERROR) & 15,
    authoritative: reply.authoritative ?? false,
    answerCount,
    authorityCount,
    additionalCount,
    bytes: writer.bytesFrom(start),
    rotation: rotationOf(reply.answers ?? [], starts),
  };
  return { body, ttlOffsets };
}

/** The addresses at the end of the answer section, if they may be sent in any order. */
function rotationOf(answers: readonly ResourceRecord[], starts: readonly number[]): Rotation | undefined {
  const last = answers.at(-1);
  if (last === undefined || starts.length < answers.length) return undefined;
  if (last.data.kind !== 'A' && last.data.kind !== 'AAAA') return undefined;
  const length = last.data.kind === 'A' ? 4 : 16;
  const stride = FIXED_OCTETS + length;
  let first = answers.length - 1;
  while (first > 0 && isAlike(answers[first - 1], last) && stepAt(starts, first) === stride) first -= 1;
  const count = answers.length - first;
  return count > 1 ? { start: starts[first] ?? 0, stride, count } : undefined;
}

function isAlike(one: ResourceRecord | undefined, other: ResourceRecord): boolean {
  return one?.data.kind === other.data.kind && one.name === other.name;
}

/** Octets from the record before to this one. */
function stepAt(starts: readonly number[], index: number): number {
  return (starts[index] ?? 0) - (starts[index - 1] ?? 0);
}
