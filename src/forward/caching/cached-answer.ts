/**
 * Replies in the form that the answer table keeps: the octets behind the question, compressed against it.
 *
 * Of a positive reply the answer section is kept, additional addresses that last as long, and proofs where DNSSEC was asked
 * for; name servers and SOA are not, so that an SOA record marks a negative answer.
 */
import type { AnswerBody, CachedAnswer, Rotation } from '../../table/types.ts';
import { RecordDataError } from '../../wire/data/codec.ts';
import { typeOfData } from '../../wire/data/record-data.ts';
import { MessageWriter, type Section } from '../../wire/message-writer.ts';
import { encodeName, toKey } from '../../wire/name.ts';
import { type Message, RCODE, type ResourceRecord, TYPE } from '../../wire/types.ts';
import type { ForwardQuestion } from '../transport/query-message.ts';
import { type CachingRules, clampTtl, judgeKeeping, type Keeping } from './caching-rules.ts';

/** The largest message, without the OPT record that a client may be owed. */
const MOST_OCTETS = 65_535 - 11;

const writer = new MessageWriter();

/** A reply that is kept: what everybody is told from now on, in both forms. */
export interface KeptReply {
  readonly message: Message;
  readonly answer: CachedAnswer;
}

/**
 * The reply as it is kept; nothing if it must not be.
 *
 * @param message without what does not belong to the question
 * @param metricsId 0 to 255: which counter a hit adds to
 * @param show what of it may be told; how long it is kept does not depend on that
 */
export function keepReply(
  question: ForwardQuestion,
  message: Message,
  rules: CachingRules,
  metricsId: number,
  show: (message: Message) => Message = (whole) => whole,
): KeptReply | undefined {
  const keeping = judgeKeeping(question, message, rules);
  if (keeping.kind === 'never') return undefined;
  const kept = show(reduce(message, keeping, rules));
  const written = writeBody(question, kept);
  if (written === undefined) return undefined;
  const { type, class: dnsClass, dnssecOk, checkingDisabled } = question;
  const answer = {
    name: encodeName(toKey(question.name)),
    ...{ type, class: dnsClass, dnssecOk, checkingDisabled },
    recursionAvailable: message.header.recursionAvailable,
    ...written,
    lifetime: keeping.seconds,
    metricsId,
  };
  return { message: kept, answer };
}

/** The reply as a cached answer; nothing if it must not be kept. The parameters are those of `keepReply`. */
export function toCachedAnswer(
  question: ForwardQuestion,
  message: Message,
  rules: CachingRules,
  metricsId: number,
): CachedAnswer | undefined {
  return keepReply(question, message, rules, metricsId)?.answer;
}

/** That nobody could answer, as a cached answer of 1 to 5 seconds (RFC 9520); nothing for 0. */
export function toCachedFailure(
  question: ForwardQuestion,
  { failureTtl }: CachingRules,
  metricsId: number,
): CachedAnswer | undefined {
  const lifetime = Math.min(Math.floor(failureTtl), 5);
  if (lifetime < 1) return undefined;
  const { type, class: dnsClass, dnssecOk, checkingDisabled } = question;
  return {
    name: encodeName(toKey(question.name)),
    ...{ type, class: dnsClass, dnssecOk, checkingDisabled },
    recursionAvailable: true,
    body: { ...NO_RECORDS, rcode: RCODE.SERVFAIL },
    ttlOffsets: [],
    lifetime,
    metricsId,
  };
}

const NO_RECORDS: AnswerBody = {
  rcode: RCODE.NOERROR,
  authoritative: false,
  answerCount: 0,
  authorityCount: 0,
  additionalCount: 0,
  bytes: new Uint8Array(0),
  rotation: undefined,
};

interface WrittenBody {
  readonly body: AnswerBody;
  readonly ttlOffsets: readonly number[];
}

/** What of a reply is kept, with the TTLs that it is kept with. */
function reduce(
  message: Message,
  keeping: Exclude<Keeping, { kind: 'never' }>,
  rules: CachingRules,
): Message {
  const ttlOf = ({ ttl }: ResourceRecord) =>
    keeping.kind === 'negative' ? Math.min(clampTtl(ttl, rules), keeping.seconds) : clampTtl(ttl, rules);
  const clamp = (record: ResourceRecord): ResourceRecord => {
    const ttl = ttlOf(record);
    return ttl === record.ttl ? record : { ...record, ttl };
  };
  const lasts = (record: ResourceRecord) => record.ttl >= keeping.seconds;
  return {
    ...message,
    answers: keeping.kind === 'failure' ? [] : message.answers.map(clamp),
    authorities: keeping.kind === 'failure' ? [] : message.authorities.filter(belongsTo(keeping)).map(clamp),
    additionals: keeping.kind === 'positive' ? message.additionals.map(clamp).filter(lasts) : [],
  };
}

/** @returns nothing for what does not fit into a message, or has no wire form */
function writeBody(question: ForwardQuestion, message: Message): WrittenBody | undefined {
  const { answers, authorities, additionals } = message;
  writer.start(MOST_OCTETS);
  writer.question({ ...question, name: toKey(question.name) });
  const start = writer.length;
  const ttlOffsets: number[] = [];
  const ends: number[] = [];
  const write = (section: Section, records: readonly ResourceRecord[]): boolean =>
    records.every((record) => {
      if (!writer.record(section, record)) return false;
      ttlOffsets.push(writer.ttlOffset - start);
      ends.push(writer.length - start);
      return true;
    });
  try {
    const isWhole =
      write('answers', answers) && write('authorities', authorities) && write('additionals', additionals);
    if (!isWhole) return undefined;
  } catch (error) {
    if (error instanceof RecordDataError) return undefined;
    throw error;
  }
  return {
    body: {
      rcode: message.header.rcode,
      authoritative: false,
      answerCount: answers.length,
      authorityCount: authorities.length,
      additionalCount: additionals.length,
      bytes: writer.bytesFrom(start),
      rotation: rotationOf(answers, ends),
    },
    ttlOffsets,
  };
}

/** Which authority records a kept answer has: those that say why there is none, else proofs alone. */
function belongsTo({ kind }: Keeping): (record: ResourceRecord) => boolean {
  return ({ data }) => kind === 'negative' || (data.kind !== 'SOA' && data.kind !== 'NS');
}

/**
 * The run of addresses that a reader may start anywhere in: all answers but the CNAMEs before them, of one name and type.
 *
 * @param ends where each record ends in the body
 */
function rotationOf(answers: readonly ResourceRecord[], ends: readonly number[]): Rotation | undefined {
  const first = answers.findIndex(({ data }) => data.kind !== 'CNAME');
  const head = answers[first];
  if (first < 0 || head === undefined || !isAddress(head)) return undefined;
  const start = first === 0 ? 0 : (ends[first - 1] ?? 0);
  const stride = (ends[first] ?? 0) - start;
  for (let index = first; index < answers.length; index += 1) {
    const record = answers[index];
    const begin = index === 0 ? 0 : (ends[index - 1] ?? 0);
    const isOfSet =
      record !== undefined &&
      typeOfData(record.data) === typeOfData(head.data) &&
      toKey(record.name) === toKey(head.name);
    if (!isOfSet || (ends[index] ?? 0) - begin !== stride) return undefined;
  }
  const count = answers.length - first;
  return count > 1 ? { start, stride, count } : undefined;
}

function isAddress({ data }: ResourceRecord): boolean {
  const type = typeOfData(data);
  return type === TYPE.A || type === TYPE.AAAA;
}
