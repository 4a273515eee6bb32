/**
 * Encodes records the way the table stores them for one question: the octets after it, names compressed against it.
 */
import { MessageWriter, type Section } from '@portolan/dns/message-writer.ts';
import { toKey } from '@portolan/dns/name.ts';
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import { RecordDataError } from '@portolan/dns/record-codec.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import { MAX_MESSAGE_OCTETS, MIN_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { type Question, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { AnswerBody, CachedAnswer, Rotation } from './types.ts';

/** The part of a response that follows its question. */
export interface AnswerRecords {
  /** The whole response code; the lower four bits are kept. */
  readonly rcode: number;
  readonly authoritative: boolean;
  /** Default: no. */
  readonly authenticData?: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
}

/** The largest message, less the OPT record that a client may need. */
const MAX_OCTETS = MAX_MESSAGE_OCTETS - OPT_OCTETS;

const writer = new MessageWriter();

/**
 * How the names of records are written. `compressed`: against the question, whose letters they take. `own-letters`: against each other.
 * `whole-owners`: the same, but each owner of an answer in full. `owners-as-asked`: the owners of answers as pointers to the question.
 */
type Names = 'compressed' | 'own-letters' | 'whole-owners' | 'owners-as-asked';

/**
 * @param keepsLetters whether names keep their letters, whatever the client writes in its question. A set of addresses beyond the size that
 *   every client takes has those of the question: only records of one length can rotate, and whole owners would make it longer
 * @returns undefined if the records do not fit into a message or have no wire form
 */
export function writeAnswerBody(
  question: Question,
  records: AnswerRecords,
  keepsLetters = false,
): WrittenBody | undefined {
  if (!keepsLetters) return writeBody(question, records, 'compressed');
  if (!isAddressSet(question, records.answers)) return writeBody(question, records, 'own-letters');
  const whole = writeBody(question, records, 'whole-owners');
  const isSmall = whole !== undefined && writer.length + OPT_OCTETS <= MIN_UDP_SIZE;
  return isSmall ? whole : writeBody(question, records, 'owners-as-asked');
}

type WrittenBody = Pick<CachedAnswer, 'body' | 'ttlOffsets'>;

/** Whether the answers are several addresses of the question's name. */
function isAddressSet({ name }: Question, answers: readonly ResourceRecord[]): boolean {
  const key = toKey(name);
  return answers.length > 1 && answers.every((record) => isAddress(record) && toKey(record.name) === key);
}

function writeBody(
  question: Question,
  { rcode, authoritative, authenticData = false, answers, authorities, additionals }: AnswerRecords,
  names: Names,
): WrittenBody | undefined {
  writer.start(MAX_OCTETS, true, names !== 'compressed');
  writer.question({ name: toKey(question.name), type: question.type, class: question.class });
  if (names !== 'compressed') writer.forgetNames();
  const start = writer.length;
  const ttlOffsets: number[] = [];
  const ends: number[] = [];
  const write = (section: Section, records: readonly ResourceRecord[]): boolean =>
    records.every((record) => {
      const isAnswer = section === 'answers';
      if (names === 'whole-owners' && isAnswer) writer.forgetNames();
      if (!writer.record(section, record, names === 'owners-as-asked' && isAnswer)) return false;
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
  const body: AnswerBody = {
    rcode: rcode & 15,
    authoritative,
    authenticData,
    answerCount: answers.length,
    authorityCount: authorities.length,
    additionalCount: additionals.length,
    bytes: writer.bytesFrom(start),
    rotation: findRotation(answers, ends),
  };
  return { body, ttlOffsets };
}

/**
 * The run of addresses that a reader may start anywhere in: the answers after any leading CNAMEs, if all share a name and type.
 *
 * @param ends where each record ends in the body
 */
function findRotation(answers: readonly ResourceRecord[], ends: readonly number[]): Rotation | undefined {
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
