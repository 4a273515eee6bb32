/**
 * Answers that the plugins of a block make from their options and from what they publish, and from nothing else: `template` does so,
 * `rewrite` with names of the cluster, and wildcards. Readers give them until something of it changes.
 */
import type { Clock } from '../../base/clock.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Chain } from '../../chain/handler.ts';
import type { Query } from '../../chain/query.ts';
import { isResponse, wholeAnswerOf } from '../../chain/whole-answer.ts';
import { toCachedQuestion } from '../../forward/question-key.ts';
import { isReadAsStored } from '../../plugins/cache/cache-store.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { AnswerSources, CachedAnswer, PublicationId, ViewId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { RCODE } from '../../wire/types.ts';
import { isStorable } from './kept-answers.ts';

export interface DerivedAnswersOptions {
  readonly table: Pick<TableWriter, 'cache' | 'sourcesOf'>;
  /** Those of the block, as they are at the moment. Of more than `MAX_PUBLICATIONS` nothing is stored. */
  readonly publications: () => readonly PublicationId[];
  /** Whether answers carry the RA bit. Default: as they say. */
  readonly recursionAvailable?: boolean;
  /** Where readers look for the answer to a query, and what they count it for; undefined: nowhere. */
  readonly placeOf: (query: Query) => { readonly view: ViewId; readonly outcome: number } | undefined;
  readonly clock: Clock;
  /** Whether a query of another length than the one that the plugins see goes to them, since they count and log its length. */
  readonly isStrict: boolean;
}

/** What the table knows the state of for one answer. */
export const MAX_PUBLICATIONS = 2;
/** Seconds. What an answer is made from ends it when it changes; this ends one that nobody asks for any more. */
const LIFETIME = 60;
/** In a lifetime: names that a client makes up leave room for all others. */
const MAX_STORED = 10_000;

/** The same chain, which stores what it derives. */
export function storeDerivedAnswers(chain: Chain, options: DerivedAnswersOptions): Chain {
  const { table, publications, placeOf, clock } = options;
  let [stored, since] = [0, clock.monotonic()];
  return async (query) => {
    const ids = publications();
    const sources = ids.length > MAX_PUBLICATIONS ? undefined : table.sourcesOf(ids);
    const answer = await chain(query);
    if (sources === undefined || !isDerived(query, options)) return answer;
    const now = clock.monotonic();
    if (now - since >= LIFETIME * 1000) [stored, since] = [0, now];
    const place = stored < MAX_STORED ? placeOf(query) : undefined;
    const cached = place && toCached(query, answer, options, { sources, outcome: place.outcome });
    if (place !== undefined && cached !== undefined && table.cache(cached, now, place.view)) stored += 1;
    return answer;
  };
}

function isDerived(query: Query, { isStrict }: DerivedAnswersOptions): boolean {
  return query.isDerived && isStorable(query) && (!isStrict || query.octets === query.site.octets);
}

function toCached(
  query: Query,
  answer: Answer,
  { recursionAvailable }: DerivedAnswersOptions,
  found: { readonly sources: AnswerSources; readonly outcome: number },
): CachedAnswer | undefined {
  if (answer.kind === 'drop' || !isResponse(answer)) return undefined;
  const whole = wholeAnswerOf(answer);
  const { rcode, truncated, edns } = whole;
  // What failed may be right the next time.
  if (truncated || edns !== undefined || rcode > 15 || rcode === RCODE.SERVFAIL) return undefined;
  const written = writeAnswerBody(query.question, whole);
  if (written === undefined || !isReadAsStored(whole, written.body.rotation !== undefined)) return undefined;
  return {
    ...toCachedQuestion(query.questionKey),
    body: written.body,
    // The plugins would give the same TTLs at any time.
    ttlOffsets: [],
    recursionAvailable: recursionAvailable ?? whole.recursionAvailable,
    lifetime: LIFETIME,
    ...found,
  };
}
