/**
 * Whole messages: decodes and encodes them (RFC 1035 section 4).
 */
import { ednsLength, readEdns } from './edns.ts';
import { HEADER_OCTETS, readHeader } from './header.ts';
import { type Mark, MessageWriter, type Section } from './message-writer.ts';
import { OctetReader } from './octet-reader.ts';
import { readData, typeOfData } from './record-data.ts';
import { MAX_MESSAGE_OCTETS, MIN_UDP_SIZE } from './response-size.ts';
import { type Edns, type Message, type Question, type ResourceRecord, TYPE } from './types.ts';
import { WireError } from './wire-error.ts';

/** As `decodeMessage`. @returns undefined if it throws */
export function tryDecodeMessage(bytes: Uint8Array): Message | undefined {
  try {
    return decodeMessage(bytes);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/**
 * Reads a message. Octets after its last record are ignored, as in BIND.
 *
 * @throws WireError if it is malformed, has two OPT records, or one outside the additional section.
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const from = new OctetReader(bytes);
  if (bytes.length < HEADER_OCTETS) throw new WireError('message shorter than its header', bytes.length);
  const header = readHeader(from.uint16(), from.uint16());
  const questionCount = from.uint16();
  const answerCount = from.uint16();
  const authorityCount = from.uint16();
  const additionalCount = from.uint16();
  const questions = readSome(questionCount, from, readQuestion);
  const answers = readSome(answerCount, from, readRecord);
  const authorities = readSome(authorityCount, from, readRecord);
  return { header, questions, answers, authorities, ...readAdditionals(from, additionalCount) };
}

/** Counts are the sender's claims: memory is only allocated for records actually read. */
function readSome<Item>(count: number, from: OctetReader, read: (from: OctetReader) => Item): Item[] {
  const items: Item[] = [];
  for (let index = 0; index < count; index += 1) items.push(read(from));
  return items;
}

/** @throws WireError */
export function readQuestion(from: OctetReader): Question {
  return { name: from.name(), type: from.uint16(), class: from.uint16() };
}

function readAdditionals(
  from: OctetReader,
  count: number,
): { additionals: readonly ResourceRecord[]; edns: Edns | undefined } {
  const additionals: ResourceRecord[] = [];
  let edns: Edns | undefined;
  for (let index = 0; index < count; index += 1) {
    const start = from.position;
    const name = from.name();
    const type = from.uint16();
    if (type !== TYPE.OPT) {
      from.position = start;
      additionals.push(readRecord(from));
      continue;
    }
    if (edns !== undefined) throw new WireError('second OPT record', start);
    edns = readEdns(name, from);
  }
  return { additionals, edns };
}

function readRecord(from: OctetReader): ResourceRecord {
  const start = from.position;
  const name = from.name();
  const type = from.uint16();
  if (type === TYPE.OPT) throw new WireError('OPT record outside the additional section', start);
  const recordClass = from.uint16();
  const ttl = from.uint32();
  const length = from.uint16();
  if (length > from.remaining) throw new WireError('record data leaves the message', from.position);
  const outerEnd = from.end;
  from.end = from.position + length;
  const data = readData(type, recordClass, from);
  from.end = outerEnd;
  // RFC 2181 section 8: a TTL with its top bit set is 0.
  return { name, class: recordClass, ttl: ttl > 0x7fff_ffff ? 0 : ttl, data };
}

export interface EncodeOptions {
  /** The maximum octets of the message, 512 to 65,535 (the default). */
  readonly limit?: number;
  /** Octets of the limit to leave for a signature. Default: none. */
  readonly reserved?: number;
  /** Whether to compress names. Default: yes. */
  readonly compresses?: boolean;
}

const writer = new MessageWriter();

/**
 * Encodes a message and cuts it at a record if it would exceed `limit`: first omits additional record sets, then
 * authorities, both silently; sets TC if an answer is missing (RFC 2181 section 9), a part of a referral (RFC 9471) or of a denial.
 * OPT always stays.
 *
 * @throws RecordDataError if the data of a record has no wire form.
 */
export function encodeMessage(message: Message, options: EncodeOptions = {}): Uint8Array {
  const { header } = message;
  return writer.finish(write(message, options) === 'cut' ? { ...header, truncated: true } : header);
}

/**
 * The same for a message that must not be cut. It stops at the first record that does not fit.
 *
 * @returns undefined if a record does not fit
 */
export function encodeWhole(message: Message, options: EncodeOptions): Uint8Array | undefined {
  return write(message, options) === 'whole' ? writer.finish(message.header) : undefined;
}

/** @returns `parts`: all that the question needs fits, and other records are missing; `cut`: it does not fit */
function write(
  message: Message,
  { limit: asked = MAX_MESSAGE_OCTETS, reserved = 0, compresses }: EncodeOptions,
): 'whole' | 'parts' | 'cut' {
  const { edns, questions, authorities, additionals } = message;
  const limit = Math.min(Math.max(asked, MIN_UDP_SIZE), MAX_MESSAGE_OCTETS) - reserved;
  writer.start(edns === undefined ? limit : limit - ednsLength(edns), compresses);
  const hasAnswers = questions.every((question) => writer.question(question)) && writeAnswers(message);
  const isWhole =
    hasAnswers && writeRecordSets('authorities', authorities) && writeRecordSets('additionals', additionals);
  writer.limit(limit);
  if (edns !== undefined) writer.edns(edns);
  if (isWhole) return 'whole';
  return hasAnswers && !isSaidByAuthorities(message) ? 'parts' : 'cut';
}

/** A referral without its name servers would look as if the name had no records, and nobody could cache a denial without its SOA. */
function isSaidByAuthorities({ answers, authorities }: Message): boolean {
  return answers.length === 0 && authorities.length > 0;
}

function writeAnswers(message: Message): boolean {
  return message.answers.every((record) => writer.record('answers', record));
}

/** Writes whole record sets as long as they fit. @returns Whether all did. */
function writeRecordSets(section: Section, records: readonly ResourceRecord[]): boolean {
  let setStart: Mark | undefined;
  let previous: ResourceRecord | undefined;
  for (const record of records) {
    if (setStart === undefined || previous === undefined || !isSameSet(previous, record))
      setStart = writer.mark();
    if (!writer.record(section, record)) {
      writer.rewind(setStart);
      return false;
    }
    previous = record;
  }
  return true;
}

function isSameSet(one: ResourceRecord, other: ResourceRecord): boolean {
  return one.name === other.name && typeOfData(one.data) === typeOfData(other.data);
}
