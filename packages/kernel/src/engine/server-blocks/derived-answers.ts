/**
 * Answers that the plugins of a block make only from their options and publications. Examples are `template`, `rewrite` with
 * names of the cluster, and wildcards. Readers give them until one of these sources changes.
 */
import { RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '../../base/clock.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Chain } from '../../chain/handler.ts';
import type { Query } from '../../chain/query.ts';
import { isReadAsStored, isResponse, toWholeAnswer } from '../../chain/whole-answer.ts';
import { toCachedQuestion } from '../../forward/question-key.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { AnswerSources, CachedAnswer, PublicationId, ViewId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { isStorable, MAX_PUBLICATIONS } from './answers-from-cache.ts';
import type { BlockRules } from './block-rules.ts';

export interface DerivedAnswersOptions {
  readonly table: Pick<TableWriter, 'cache' | 'readAnswerSources'>;
  /** The current publications of the block. With more than `MAX_PUBLICATIONS`, no answers are stored. */
  readonly publications: () => readonly PublicationId[];
  /** Whether answers carry the RA bit. Default: as they say. */
  readonly recursionAvailable?: boolean;
  /** Where readers look for the answer to a query, and its outcome; undefined: do not store it. */
  readonly findPlace: (query: Query) => { readonly view: ViewId; readonly outcome: number } | undefined;
  /** Whether readers look for the answer to a query before the cache of the block. */
  readonly isBeforeCache: (query: Query) => boolean;
  readonly clock: Clock;
  readonly rules: Pick<BlockRules, 'readersRepeatResized' | 'sendsExtendedErrors'>;
}

/** Seconds. An answer ends when its sources change; this ends answers that nobody asks for any more. */
const LIFETIME = 60;
/** Per `LIFETIME`: names that a client makes up must leave room for all others. */
const MAX_STORED = 10_000;

/** Wraps a chain so that it stores derived answers. */
export function storeDerivedAnswers(chain: Chain, options: DerivedAnswersOptions): Chain {
  const { table, publications, findPlace, clock } = options;
  let stored = 0;
  let since = clock.monotonic();
  return async (query) => {
    const ids = publications();
    const sources = ids.length > MAX_PUBLICATIONS ? undefined : table.readAnswerSources(ids);
    const answer = await chain(query);
    if (sources === undefined || !isDerived(query, options)) return answer;
    const now = clock.monotonic();
    if (now - since >= LIFETIME * 1000) [stored, since] = [0, now];
    const place = stored < MAX_STORED ? findPlace(query) : undefined;
    const cached = place && toCached(query, answer, options, { sources, outcome: place.outcome });
    if (place !== undefined && cached !== undefined && table.cache(cached, now, place.view)) stored += 1;
    return answer;
  };
}

function isDerived(query: Query, { rules }: DerivedAnswersOptions): boolean {
  const isResized = query.octets !== query.site.octets;
  return query.isDerived && isStorable(query) && (rules.readersRepeatResized || !isResized);
}

function toCached(
  query: Query,
  answer: Answer,
  { recursionAvailable, rules, isBeforeCache }: DerivedAnswersOptions,
  found: { readonly sources: AnswerSources; readonly outcome: number },
): CachedAnswer | undefined {
  if (answer.kind === 'drop' || !isResponse(answer)) return undefined;
  const whole = toWholeAnswer(answer);
  const { rcode, truncated, edns } = whole;
  // Do not store failures: the next attempt may succeed.
  if (truncated || edns !== undefined || rcode > 15 || rcode === RCODE.SERVFAIL) return undefined;
  const written = writeAnswerBody(query.question, whole, query.keepsLetters);
  if (written === undefined || !isReadAsStored(whole, written.body.rotation !== undefined)) return undefined;
  return {
    ...toCachedQuestion(query.questionKey),
    overIpv6: query.isOnlyForIpv6,
    beforeCache: isBeforeCache(query),
    body: written.body,
    // The plugins would give the same TTLs at any time.
    ttlOffsets: [],
    recursionAvailable: recursionAvailable ?? whole.recursionAvailable,
    lifetime: LIFETIME,
    passedErrors: rules.sendsExtendedErrors ? whole.passedErrors : undefined,
    ...found,
  };
}
