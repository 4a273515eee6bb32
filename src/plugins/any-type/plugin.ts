/**
 * `any-type`: questions for ANY about names of the cluster are answered minimally (RFC 8482 section 4.2), or refused.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Handler, Next } from '../../chain/handler.ts';
import type { Query } from '../../chain/query.ts';
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { minimalAnyRecord } from '../../wire/minimal-any.ts';
import { type NameKey, TYPE } from '../../wire/types.ts';
import { isOfCluster } from '../cluster-zone/zone-of-cluster.ts';

/** The answer for ANY about names of ours: one HINFO record if the name exists, or REFUSED as in kube-dns. */
export type AnyPolicy = 'minimal' | 'refused';

export interface AnyTypeOptions {
  readonly policy: AnyPolicy;
}

export const anyType = definePlainPlugin({
  name: 'any-type',
  create: ({ policy }: AnyTypeOptions, context) => ({
    handler: createAnyHandler(policy, isOfCluster(context)),
  }),
});

/** @param isOurs whether a name is ours; other names pass */
export function createAnyHandler(policy: AnyPolicy, isOurs: (name: NameKey) => boolean): Handler {
  const respond = policy === 'minimal' ? answerMinimally : refuse;
  return {
    name: 'any',
    role: 'other',
    answers: 'unchanged',
    questions: {
      includes: (name, type) => type === TYPE.ANY && isOurs(name),
      matches: () => [{ name: { kind: 'any' }, types: ANY }],
    },
    handle: (query, next) =>
      query.question.type === TYPE.ANY && isOurs(query.key) ? respond(query, next) : next(query),
  };
}

const ANY: ReadonlySet<number> = new Set([TYPE.ANY]);

const refuse = (): Answer => ({ kind: 'refused' });

async function answerMinimally(query: Query, next: Next): Promise<Answer> {
  const { question } = query;
  // The answer for a type that hardly any name has shows whether the name exists.
  const probe = await next(query.about({ ...question, type: TYPE.HINFO }));
  if (probe.kind !== 'records' && probe.kind !== 'nodata' && probe.kind !== 'alias') return probe;
  return {
    kind: 'records',
    records: [minimalAnyRecord(question.name)],
    additionals: [],
    authoritative: probe.authoritative,
  };
}
