/**
 * Answers that handlers before the cache of a block, such as `rewrite`, make from its entries. Readers give them for as long as
 * the cache keeps these entries. Where it keeps only a part of what an answer is made of, they also end with the epochs of the rest.
 */
import { CLASS } from '@portolan/dns/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { WholeAnswer } from '../../chain/answer.ts';
import type { Chain } from '../../chain/handler.ts';
import type { KeptAnswer, Query } from '../../chain/query.ts';
import { isReadAsStored, toWholeAnswer } from '../../chain/whole-answer.ts';
import { toCachedQuestion } from '../../forward/question-key.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { CachedAnswer, PublicationId, ViewId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import type { BlockRules } from './block-rules.ts';

/** Maximum number of publications whose state the table tracks for one answer. */
export const MAX_PUBLICATIONS = 2;

export interface CachedAnswersOptions {
  readonly table: Pick<TableWriter, 'cache' | 'readAnswerSources'>;
  /** The publications of the block. With more than `MAX_PUBLICATIONS`, answers that the cache keeps only a part of are not stored. */
  readonly publications: readonly PublicationId[];
  /** The view of the cache. */
  readonly view: ViewId;
  /** The outcome of the answer to a query; undefined: readers must not give it. */
  readonly findOutcome: (query: Query) => number | undefined;
  readonly clock: Clock;
  readonly rules: Pick<BlockRules, 'readersRepeatResized' | 'sendsExtendedErrors'>;
}

/** Wraps a chain so that it stores answers made from cached ones. */
export function storeAnswersFromCache(chain: Chain, options: CachedAnswersOptions): Chain {
  const { table, view, findOutcome, clock, rules, publications } = options;
  const hasSources = publications.length <= MAX_PUBLICATIONS;
  return async (query) => {
    const sources = hasSources ? table.readAnswerSources(publications) : undefined;
    const answer = await chain(query);
    const { kept } = query;
    if (kept === undefined || answer.kind === 'drop' || !isStorable(query)) return answer;
    const { isPartlyKept } = query;
    if (isPartlyKept && sources === undefined) return answer;
    if (!rules.readersRepeatResized && query.octets !== query.site.octets) return answer;
    const now = clock.monotonic();
    const cached = toCached(query, toWholeAnswer(answer), kept, now);
    const outcome = cached && findOutcome(query);
    const passedErrors =
      rules.sendsExtendedErrors && 'passedErrors' in answer ? answer.passedErrors : undefined;
    if (cached !== undefined && outcome !== undefined)
      table.cache(
        { ...cached, passedErrors, outcome, ...(isPartlyKept && sources !== undefined && { sources }) },
        now,
        view,
      );
    return answer;
  };
}

/** Whether a client sent the query, and its response repeats only parts that readers repeat too. */
export function isStorable({ question, depth, header, edns, repeated }: Query): boolean {
  return (
    depth === 0 &&
    question.class === CLASS.IN &&
    repeated.header === header &&
    repeated.edns?.options === edns?.options &&
    repeated.edns?.dnssecOk === edns?.dnssecOk
  );
}

/** @param now milliseconds of the monotonic clock */
function toCached(
  query: Query,
  answer: WholeAnswer,
  { until }: KeptAnswer,
  now: number,
): Omit<CachedAnswer, 'outcome'> | undefined {
  const lifetime = Math.floor((until - now) / 1000);
  if (lifetime < 1 || answer.truncated || answer.edns !== undefined || answer.rcode > 15) return undefined;
  const written = writeAnswerBody(query.question, answer);
  if (written === undefined || !isReadAsStored(answer, written.body.rotation !== undefined)) return undefined;
  const { recursionAvailable } = answer;
  const question = {
    ...toCachedQuestion(query.questionKey),
    beforeCache: true,
    overIpv6: query.isOnlyForIpv6,
  };
  return { ...question, ...written, recursionAvailable, lifetime };
}
