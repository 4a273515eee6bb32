/**
 * Turns replies into cache entries.
 *
 * Of a positive reply the cache stores the answer section, additional addresses whose TTL is at least as long, and
 * DNSSEC proofs if the DO bit was set. It omits NS and SOA records of the authority section, so that an SOA record
 * marks a negative answer.
 */
import { readPassedErrors } from '@portolan/dns/extended-error.ts';
import { encodeName, toKey } from '@portolan/dns/name.ts';
import type { Message, ResourceRecord } from '@portolan/dns/types.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { CachedAnswer } from '../../table/types.ts';
import type { ForwardQuestion } from '../transport/query-message.ts';
import { type CachedFor, type CachingRules, judgeKeeping, keptTtl } from './caching-rules.ts';

/** A cached reply in both forms: as a message, and as a table entry. */
export interface KeptReply {
  readonly message: Message;
  readonly answer: CachedAnswer;
}

/**
 * The reply as it is cached; undefined if it must not be cached.
 *
 * @param message with only the records that belong to the question
 * @param outcome of hits
 * @param show filters the records for clients; it does not affect the lifetime
 */
export function cacheReply(
  question: ForwardQuestion,
  message: Message,
  rules: CachingRules,
  outcome: number,
  show: (message: Message) => Message = (whole) => whole,
): KeptReply | undefined {
  const keeping = judgeKeeping(question, message, rules);
  if (keeping.kind === 'never') return undefined;
  const kept = show(reduce(message, keeping, rules));
  const { header, answers, authorities, additionals } = kept;
  const { rcode, authenticData } = header;
  const records = { rcode, authoritative: false, authenticData, answers, authorities, additionals };
  const written = writeAnswerBody(question, records);
  if (written === undefined) return undefined;
  // Runs for every upstream question: written out, since object spread is slow.
  const answer = {
    name: encodeName(toKey(question.name)),
    type: question.type,
    class: question.class,
    dnssecOk: question.dnssecOk,
    checkingDisabled: question.checkingDisabled,
    recursionAvailable: header.recursionAvailable,
    body: written.body,
    ttlOffsets: written.ttlOffsets,
    lifetime: keeping.seconds,
    outcome,
    passedErrors: readPassedErrors(message.edns),
  };
  return { message: kept, answer };
}

/** The records of a reply that are cached, with their TTLs in the cache. */
function reduce(message: Message, keeping: CachedFor, rules: CachingRules): Message {
  const clamp = (record: ResourceRecord): ResourceRecord => {
    const ttl = keptTtl(record.ttl, keeping, rules);
    return ttl === record.ttl ? record : { ...record, ttl };
  };
  const lasts = (record: ResourceRecord) => record.ttl >= keeping.seconds;
  return {
    header: message.header,
    questions: message.questions,
    edns: message.edns,
    answers: keeping.kind === 'failure' ? [] : message.answers.map(clamp),
    authorities: keeping.kind === 'failure' ? [] : message.authorities.filter(belongsTo(keeping)).map(clamp),
    additionals: keeping.kind === 'positive' ? message.additionals.map(clamp).filter(lasts) : [],
  };
}

/** Selects the cached authority records: all of a negative answer, else only proofs. */
function belongsTo({ kind }: CachedFor): (record: ResourceRecord) => boolean {
  return ({ data }) => kind === 'negative' || (data.kind !== 'SOA' && data.kind !== 'NS');
}
