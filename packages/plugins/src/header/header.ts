/**
 * Sets and clears flags of queries and responses.
 */
import {
  ALL_QUESTIONS,
  type Answer,
  type FlagChange,
  type Handler,
  type Header,
  isResponse,
  NO_QUESTIONS,
  type Query,
  toWhole,
} from '@portolan/plugin';
import type { HeaderFlagRule, HeaderOptions } from './options.ts';

const FIELDS = {
  aa: 'authoritative',
  ra: 'recursionAvailable',
  rd: 'recursionDesired',
} as const;

export function createHeaderHandler({ query: queryRules, response: responseRules }: HeaderOptions): Handler {
  const ofQueries = toHeaderFlags(queryRules);
  const ofResponses = toHeaderFlags(responseRules);
  const hasRules = queryRules.length + responseRules.length > 0;
  return {
    name: 'header',
    role: 'other',
    questions: hasRules ? ALL_QUESTIONS : NO_QUESTIONS,
    answers: 'unchanged',
    ...(hasRules && { changesAnswers: true }),
    // Readers forward only questions with RD.
    ...(hasRules && ofQueries.recursionDesired !== false && { flags: toFlagChange(ofResponses) }),
    async handle(query, next) {
      if (!hasRules) return await next(query);
      return changeResponse(await next(changeQuery(query, ofQueries)), ofResponses);
    },
  };
}

const BITS = { authoritative: 0x0400, recursionDesired: 0x0100, recursionAvailable: 0x0080 } as const;

function toFlagChange(flags: HeaderFlags): FlagChange {
  const change = { clear: 0, set: 0 };
  for (const [flag, value] of Object.entries(flags))
    change[value ? 'set' : 'clear'] |= BITS[flag as keyof HeaderFlags];
  return change;
}

type HeaderFlags = Partial<Pick<Header, (typeof FIELDS)[keyof typeof FIELDS]>>;

/** If two rules set one flag, the last one counts. */
function toHeaderFlags(rules: readonly HeaderFlagRule[]): HeaderFlags {
  return Object.fromEntries(rules.map(({ flag, value }) => [FIELDS[flag], value]));
}

/** The response repeats the flags of the changed query, as in CoreDNS. */
function changeQuery(query: Query, flags: HeaderFlags): Query {
  const header = { ...query.header, ...flags };
  query.repeat({ header });
  return query.with({ header });
}

function changeResponse(answer: Answer, flags: HeaderFlags): Answer {
  if (answer.kind === 'drop' || !isResponse(answer)) return answer;
  return { ...toWhole(answer), ...flags };
}
