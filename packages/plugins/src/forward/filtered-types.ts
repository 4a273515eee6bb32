/**
 * Types of records that are left out of answers (`--filter-A`, `--filter-AAAA`, `--filter-rr`). The answer is then NODATA;
 * NXDOMAIN stays NXDOMAIN.
 *
 * As in dnsmasq, ANY does not mean all types: it limits answers to ANY to types that people still need (RFC 8482 section 4.3).
 */
import { typeOfData } from '@portolan/dns/record-data.ts';
import { type Message, type NameKey, type Question, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';

export type FilteredTypes = ReadonlySet<number>;

const LEFT_OF_ANY: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA, TYPE.MX, TYPE.CNAME]);

/** Removes hidden records from a reply. Returns the same message if it has no such records. */
export function hideTypes(question: Question, message: Message, hidden: FilteredTypes): Message {
  if (hidden.size === 0) return message;
  const isThinned = question.type === TYPE.ANY && hidden.has(TYPE.ANY);
  const isShown = ({ data }: ResourceRecord) => {
    const type = typeOfData(data);
    return isThinned ? LEFT_OF_ANY.has(type) : !hidden.has(type);
  };
  const { answers, additionals } = message;
  if (answers.every(isShown) && additionals.every(isShown)) return message;
  return { ...message, answers: answers.filter(isShown), additionals: additionals.filter(isShown) };
}

/**
 * Hides types of our own names. A question for a hidden type becomes one for a type that no name has: the answer still shows
 * whether the name exists.
 *
 * @param isOurs whether a name is ours, for the client of a query; other names pass
 */
export function createTypeFilter(
  hidden: FilteredTypes,
  isOurs: (name: NameKey, query: Query) => boolean,
): Handler {
  return {
    name: 'filter-types',
    role: 'other',
    // Nodes are published without these types, so readers give the same answers.
    questions: NO_QUESTIONS,
    answers: 'modifiers',
    handle: async (query, next) => {
      const { question } = query;
      if (!isOurs(query.key, query)) return next(query);
      if (question.type !== TYPE.ANY && hidden.has(question.type)) return next(withoutData(query));
      const answer = await next(query);
      return answer.kind === 'records' ? hideAdditionals(answer, hidden) : answer;
    },
  };
}

function withoutData(query: Query): Query {
  return query.about({ ...query.question, type: TYPE.HINFO });
}

function hideAdditionals(answer: Extract<Answer, { kind: 'records' }>, hidden: FilteredTypes): Answer {
  const additionals = answer.additionals.filter(({ data }) => !hidden.has(typeOfData(data)));
  return additionals.length === answer.additionals.length ? answer : { ...answer, additionals };
}
