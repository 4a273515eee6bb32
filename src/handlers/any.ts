/**
 * Questions for ANY: answered in the least way (RFC 8482 section 4.2), or refused.
 */
import type { Answer } from '../chain/answer.ts';
import type { Handler } from '../chain/chain.ts';
import { minimalAnyRecord } from '../wire/minimal-any.ts';
import { TYPE } from '../wire/types.ts';

/** Answers ANY with one HINFO record at names that exist. */
export const answerAnyMinimally: Handler = async (query, next) => {
  const { question } = query;
  if (question.type !== TYPE.ANY) return next(query);
  // A type that hardly any name has tells whether the name exists.
  const probe = await next(query.about({ ...question, type: TYPE.HINFO }));
  if (probe.kind !== 'records' && probe.kind !== 'nodata' && probe.kind !== 'alias') return probe;
  const answer: Answer = {
    kind: 'records',
    records: [minimalAnyRecord(question.name)],
    additionals: [],
    authoritative: probe.authoritative,
  };
  return answer;
};

/** Refuses ANY, as kube-dns does. */
export const refuseAny: Handler = (query, next) =>
  query.question.type === TYPE.ANY ? { kind: 'refused' } : next(query);
