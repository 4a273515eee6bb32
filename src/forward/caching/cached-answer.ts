/**
 * Replies as they are kept.
 *
 * Of a positive reply the answer section is kept, additional addresses that last as long, and proofs where DNSSEC was asked
 * for; name servers and SOA are not, so that an SOA record marks a negative answer.
 */
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { CachedAnswer } from '../../table/types.ts';
import { encodeName, toKey } from '../../wire/name.ts';
import type { Message, ResourceRecord } from '../../wire/types.ts';
import type { ForwardQuestion } from '../transport/query-message.ts';
import { type CachingRules, judgeKeeping, type Kept, keptTtl } from './caching-rules.ts';

/** A reply that is kept: what everybody is told from now on, in both forms. */
export interface KeptReply {
  readonly message: Message;
  readonly answer: CachedAnswer;
}

/**
 * The reply as it is kept; nothing if it must not be.
 *
 * @param message without what does not belong to the question
 * @param outcome 0 to 255: which counter a hit adds to
 * @param show what of it may be told; how long it is kept does not depend on that
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
  // Made for every question that goes upstream: written out, since spreading objects takes its time.
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
  };
  return { message: kept, answer };
}

/** What of a reply is kept, with the TTLs that it is kept with. */
function reduce(message: Message, keeping: Kept, rules: CachingRules): Message {
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

/** Which authority records a kept answer has: those that say why there is none, else proofs alone. */
function belongsTo({ kind }: Kept): (record: ResourceRecord) => boolean {
  return ({ data }) => kind === 'negative' || (data.kind !== 'SOA' && data.kind !== 'NS');
}
