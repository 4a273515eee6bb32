/**
 * Derived answers: what the chain has made from the plan and the publications alone is stored in the table together with the epochs
 * that these had when the query came. Readers give it until one of them has changed, so names that appear, wildcards and changed
 * files need no rule of their own.
 */
import type { Clock } from '../../base/clock.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Chain } from '../../chain/handler.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import type { Query } from '../../chain/query.ts';
import { replyOf } from '../../chain/response.ts';
import { toCachedQuestion } from '../../forward/question-key.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { AnswerSources, PublicationId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { CLASS, RCODE, type ResourceRecord } from '../../wire/types.ts';

export interface PlainAnswersOptions {
  readonly table: Pick<TableWriter, 'cache' | 'sourcesOf'>;
  /** Those of the view, as they are at the moment; an answer of more than two is not stored. */
  readonly publications: () => readonly PublicationId[];
  /** Whether answers carry the RA bit. */
  readonly recursionAvailable: boolean;
  readonly clock: Clock;
}

const MAX_PUBLICATIONS = 2;
/** Seconds. Epochs end an answer that is wrong; this ends one that no client asks for any more. */
const MAX_LIFETIME = 60;

/** The same chain, which stores what it derives. */
export function storePlainAnswers(chain: Chain, options: PlainAnswersOptions): Chain {
  const { table, publications } = options;
  return async (query) => {
    const ids = publications();
    const sources = ids.length > MAX_PUBLICATIONS ? undefined : table.sourcesOf(ids);
    const answer = await chain(query);
    if (sources !== undefined && query.isDerived && query.question.class === CLASS.IN)
      store(options, query, answer, sources);
    return answer;
  };
}

function store(
  { table, recursionAvailable, clock }: PlainAnswersOptions,
  query: Query,
  answer: Answer,
  sources: AnswerSources,
): void {
  if (answer.kind !== 'records' && answer.kind !== 'nodata' && answer.kind !== 'nxdomain') return;
  const { answers = [], authorities = [], additionals = [], ...reply } = replyOf(answer);
  const lifetime = minTtlOf([...answers, ...authorities, ...additionals]);
  if (lifetime === 0) return;
  const written = writeAnswerBody(query.question, {
    rcode: reply.rcode ?? RCODE.NOERROR,
    authoritative: reply.authoritative ?? false,
    answers,
    authorities,
    additionals,
  });
  if (written === undefined) return;
  const entry = {
    ...toCachedQuestion(query.questionKey),
    body: written.body,
    // The chain would give the same TTLs at any time.
    ttlOffsets: [],
    recursionAvailable,
    lifetime,
    outcome: CHAIN_OUTCOME.ours,
    sources,
  };
  table.cache(entry, clock.monotonic());
}

/** Seconds; 0 where there is no record that says for how long. */
function minTtlOf(records: readonly ResourceRecord[]): number {
  if (records.length === 0) return 0;
  return Math.min(MAX_LIFETIME, ...records.map(({ ttl }) => ttl));
}
