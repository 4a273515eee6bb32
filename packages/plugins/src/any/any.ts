/**
 * Answers questions for ANY (RFC 8482).
 */
import { minimalAnyRecord } from '@portolan/dns/minimal-any.ts';
import {
  type Answer,
  CLASS,
  EMPTY_ANSWER,
  type Handler,
  type NameKey,
  type Next,
  type Query,
  TYPE,
} from '@portolan/plugin';

/**
 * `obsolete`: any name gets one HINFO record, whether or not it exists, as in plugin/any of CoreDNS 1.14.7. `minimal`: a name of the
 * cluster gets one HINFO record if it exists. `refused`: a name of the cluster gets REFUSED, as in kube-dns.
 */
export type AnyPolicy = 'obsolete' | 'minimal' | 'refused';

export interface AnyOptions {
  readonly policy: AnyPolicy;
}

/** @param isOurs whether it answers for a name, to the client of a query; it passes on other names */
export function createAnyHandler(
  policy: AnyPolicy,
  isOurs: (name: NameKey, query?: Query) => boolean,
): Handler {
  const respond = RESPONSES[policy];
  return {
    name: 'any',
    role: 'other',
    answers: 'unchanged',
    questions: {
      includes: (name, type) => type === TYPE.ANY && isOurs(name),
      matches: () => [{ name: { kind: 'any' }, types: ANY }],
    },
    handle: (query, next) =>
      query.question.type === TYPE.ANY && isOurs(query.key, query) ? respond(query, next) : next(query),
  };
}

const ANY: ReadonlySet<number> = new Set([TYPE.ANY]);

const RESPONSES: Readonly<Record<AnyPolicy, (query: Query, next: Next) => Answer | Promise<Answer>>> = {
  obsolete: callObsolete,
  minimal: answerMinimally,
  refused: () => ({ kind: 'refused' }),
};

/** Seconds, after the number of the RFC. */
const OBSOLETE_TTL = 8482;

function callObsolete({ question }: Query): Answer {
  const data = { kind: 'HINFO', cpu: Buffer.from('ANY obsoleted'), os: Buffer.from('See RFC 8482') } as const;
  const record = { name: question.name, class: CLASS.IN, ttl: OBSOLETE_TTL, data };
  return { ...EMPTY_ANSWER, answers: [record] };
}

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
