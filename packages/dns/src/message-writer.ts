/**
 * Builds one message after the other in its own memory, and returns to a mark if a part does not fit.
 */
import { writeEdns } from './edns.ts';
import { HEADER_OCTETS, headerFlags } from './header.ts';
import { OctetWriter } from './octet-writer.ts';
import { typeOfData, writeData } from './record-data.ts';
import { MAX_MESSAGE_OCTETS } from './response-size.ts';
import type { Edns, Header, Question, ResourceRecord } from './types.ts';

export type Section = 'answers' | 'authorities' | 'additionals';

/** A state of a message to return to. */
export interface Mark {
  readonly position: number;
  readonly nameCount: number;
  readonly questions: number;
  readonly answers: number;
  readonly authorities: number;
  readonly additionals: number;
}

/** A compression pointer to the name behind the header (RFC 1035 section 4.1.4). */
const POINTER_TO_QUESTION = 0xc000 | HEADER_OCTETS;

export class MessageWriter {
  readonly #out = new OctetWriter();
  #limit = MAX_MESSAGE_OCTETS;
  #count = { questions: 0, answers: 0, authorities: 0, additionals: 0 };
  #ttlOffset = 0;

  constructor() {
    this.start();
  }

  /** The length of the message so far, in octets, with its header: the next record begins there. */
  get length(): number {
    return this.#out.position;
  }

  /** The offset of the TTL of the last written record. */
  get ttlOffset(): number {
    return this.#ttlOffset;
  }

  /**
   * Begins a new message and discards the previous one.
   *
   * @param limit Its maximum of octets.
   * @param compresses Whether to compress names.
   * @param keepsLetters Whether only against names in the same letters.
   */
  start(limit: number = MAX_MESSAGE_OCTETS, compresses = true, keepsLetters = false): void {
    this.limit(limit);
    this.#out.compresses = compresses;
    this.#out.keepsLetters = keepsLetters;
    this.#out.rewind(HEADER_OCTETS, 0);
    this.#count = { questions: 0, answers: 0, authorities: 0, additionals: 0 };
  }

  /** Changes the maximum of octets, at most 65,535. */
  limit(octets: number): void {
    this.#limit = Math.min(octets, MAX_MESSAGE_OCTETS);
  }

  mark(): Mark {
    return { position: this.#out.position, nameCount: this.#out.nameCount, ...this.#count };
  }

  /** Removes all parts written since the mark was made. */
  rewind(mark: Mark): void {
    const { position, nameCount, ...count } = mark;
    this.#out.rewind(position, nameCount);
    this.#count = count;
  }

  /** @returns Whether it fitted; otherwise the message is unchanged. Questions come before all records. */
  question(question: Question): boolean {
    const { position, nameCount } = this.#out;
    this.#out.name(question.name);
    this.#out.uint16(question.type);
    this.#out.uint16(question.class);
    if (!this.#fits(position, nameCount)) return false;
    this.#count.questions += 1;
    return true;
  }

  /** Names that follow are not compressed against those before. */
  forgetNames(): void {
    this.#out.rewind(this.#out.position, 0);
  }

  /**
   * Write sections in their order.
   *
   * @param isOfQuestion Whether to write the owner as a pointer to the question's name, which it must be.
   * @returns Whether it fitted; otherwise the message is unchanged.
   * @throws RecordDataError if the record's data has no wire form; the message is then unchanged.
   */
  record(section: Section, record: ResourceRecord, isOfQuestion = false): boolean {
    const out = this.#out;
    const { position, nameCount } = out;
    try {
      this.#writeRecord(record, isOfQuestion);
    } catch (error) {
      out.rewind(position, nameCount);
      throw error;
    }
    if (!this.#fits(position, nameCount)) return false;
    this.#count[section] += 1;
    return true;
  }

  /** @returns Whether it fitted; otherwise the message is unchanged. */
  edns(edns: Edns): boolean {
    const { position, nameCount } = this.#out;
    writeEdns(edns, this.#out);
    if (!this.#fits(position, nameCount)) return false;
    this.#count.additionals += 1;
    return true;
  }

  /** A copy of the message from `start` on. Its header is only set by `finish`. */
  bytesFrom(start: number): Uint8Array {
    return this.#out.octets.slice(start, this.#out.position);
  }

  /** Writes the header with the counts, and returns a copy of the whole message. */
  finish(header: Header): Uint8Array {
    const out = this.#out;
    const end = out.position;
    out.position = 0;
    out.uint16(header.id);
    out.uint16(headerFlags(header));
    out.uint16(this.#count.questions);
    out.uint16(this.#count.answers);
    out.uint16(this.#count.authorities);
    out.uint16(this.#count.additionals);
    out.position = end;
    return this.bytesFrom(0);
  }

  #writeRecord(record: ResourceRecord, isOfQuestion: boolean): void {
    const out = this.#out;
    if (isOfQuestion) out.uint16(POINTER_TO_QUESTION);
    else out.name(record.name);
    out.uint16(typeOfData(record.data));
    out.uint16(record.class);
    this.#ttlOffset = out.position;
    out.uint32(record.ttl);
    const lengthAt = out.position;
    out.position += 2;
    writeData(record.data, out);
    const end = out.position;
    out.position = lengthAt;
    out.uint16(end - lengthAt - 2);
    out.position = end;
  }

  #fits(position: number, nameCount: number): boolean {
    if (this.#out.position <= this.#limit) return true;
    this.#out.rewind(position, nameCount);
    return false;
  }
}
