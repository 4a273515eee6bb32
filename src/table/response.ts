/**
 * Writes responses over the queries they answer: header, the client's own question, a stored body, OPT.
 *
 * A body that fits is copied in one go, its rotating records from a random start. One that does not is cut at a record
 * boundary; TC is set only when answer records had to go (RFC 2181 section 9).
 */
import { RCODE } from '../wire/types.ts';
import { BODY, BODY_AUTHORITATIVE, TERMS, TERMS_FLAG } from './layout.ts';
import type { TableViews } from './memory.ts';
import type { QuestionReader } from './question.ts';

/** The largest message there is: one for TCP, where the client's UDP size does not count. */
export const TCP_LIMIT = 65_535;
const HEADER_LENGTH = 12;
const OPT_LENGTH = 11;
const FLAG_RESPONSE = 0x80;
const FLAG_AUTHORITATIVE = 0x04;
const FLAG_TRUNCATED = 0x02;
const FLAG_RECURSION_DESIRED = 0x01;
const FLAG_RECURSION_AVAILABLE = 0x80;
const FLAG_CHECKING_DISABLED = 0x10;

export class ResponseWriter {
  readonly #octets: Uint8Array;
  readonly #words: Uint32Array;
  readonly #question: QuestionReader;
  /** The UDP size that our OPT records tell clients. */
  readonly #udpSize: number;
  /** State of a xorshift generator: where a rotation starts. Never 0. */
  #random = (Math.floor(Math.random() * 0x7fffffff) | 1) >>> 0;
  /** Where the records of the last response ended in its packet, before OPT. */
  recordsEnd = 0;

  constructor(views: TableViews, question: QuestionReader, udpSize: number) {
    this.#octets = views.octets;
    this.#words = views.words;
    this.#question = question;
    this.#udpSize = udpSize;
  }

  /**
   * Answers with a stored body.
   *
   * @param body its octet in the table
   * @param most octets the whole response may have
   * @returns the response's length
   */
  writeBody(
    packet: Uint8Array,
    start: number,
    most: number,
    body: number,
    recursionAvailable: boolean,
  ): number {
    const words = this.#words;
    const word = body >> 2;
    const flags = words[word] ?? 0;
    const length = words[word + (BODY.LENGTH >> 2)] ?? 0;
    const counts = words[word + (BODY.ANSWERS >> 2)] ?? 0;
    const from = this.#question.end;
    if (length > this.#room(start, most))
      return this.#writeCut(packet, start, most, body, recursionAvailable);
    this.#writeHeader(packet, start, flags, recursionAvailable);
    packet[start + 6] = (counts >> 8) & 0xff;
    packet[start + 7] = counts & 0xff;
    packet[start + 8] = counts >>> 24;
    packet[start + 9] = (counts >>> 16) & 0xff;
    const additionals = words[word + (BODY.ADDITIONALS >> 2)] ?? 0;
    const rotation = words[word + (BODY.ROTATION >> 2)] ?? 0;
    if (rotation >>> 16 > 1)
      this.#copyRotated(packet, from, body + BODY.RECORDS, length, additionals >>> 16, rotation);
    else this.#copy(packet, from, body + BODY.RECORDS, length);
    return this.#finish(packet, start, from + length, additionals & 0xffff);
  }

  /** Answers NODATA or NXDOMAIN with the zone's SOA (RFC 2308 section 2). @param terms their octet in the table */
  writeNegative(packet: Uint8Array, start: number, most: number, terms: number, rcode: number): number {
    const words = this.#words;
    const flags = words[(terms + TERMS.FLAGS) >> 2] ?? 0;
    const length = (words[(terms + TERMS.LENGTHS) >> 2] ?? 0) >>> 16;
    const from = this.#question.end;
    const authoritative = rcode === RCODE.NOERROR || (flags & TERMS_FLAG.AUTHORITATIVE_NXDOMAIN) !== 0;
    const recursionAvailable = (flags & TERMS_FLAG.RECURSION_AVAILABLE) !== 0;
    this.#writeHeader(packet, start, rcode | (authoritative ? BODY_AUTHORITATIVE : 0), recursionAvailable);
    packet.fill(0, start + 6, start + 10);
    if (length > this.#room(start, most)) return this.#finish(packet, start, from, 0);
    packet[start + 9] = 1;
    this.#copySoa(packet, from, terms, length);
    return this.#finish(packet, start, from + length, 0);
  }

  /** Answers with a bare response code. */
  writeCode(packet: Uint8Array, start: number, rcode: number, recursionAvailable: boolean): number {
    this.#writeHeader(packet, start, rcode, recursionAvailable);
    packet.fill(0, start + 6, start + 10);
    return this.#finish(packet, start, this.#question.end, 0);
  }

  /** The zone's SOA record, its pointers to the apex set for the question at hand. */
  #copySoa(packet: Uint8Array, to: number, terms: number, length: number): void {
    const apexLength = (this.#words[(terms + TERMS.LENGTHS) >> 2] ?? 0) & 0xffff;
    const record = this.#words[(terms + TERMS.RECORD) >> 2] ?? 0;
    this.#copy(packet, to, terms + (record & 0xffff), length);
    const pointer = HEADER_LENGTH + this.#question.nameLength - apexLength;
    for (let index = 0, count = record >>> 16; index < count; index++) {
      const where = terms + TERMS.POINTERS + index * 2;
      const at = to + ((this.#octets[where] ?? 0) | ((this.#octets[where + 1] ?? 0) << 8));
      packet[at] = 0xc0 | (pointer >> 8);
      packet[at + 1] = pointer & 0xff;
    }
  }

  /** Octets left for records. */
  #room(start: number, most: number): number {
    return most - (this.#question.end - start) - (this.#question.hasOpt ? OPT_LENGTH : 0);
  }

  #writeHeader(packet: Uint8Array, start: number, flags: number, recursionAvailable: boolean): void {
    const asked = packet[start + 2] ?? 0;
    const checking = (packet[start + 3] ?? 0) & FLAG_CHECKING_DISABLED;
    const authoritative = flags & BODY_AUTHORITATIVE ? FLAG_AUTHORITATIVE : 0;
    packet[start + 2] = FLAG_RESPONSE | (asked & FLAG_RECURSION_DESIRED) | authoritative;
    packet[start + 3] = (recursionAvailable ? FLAG_RECURSION_AVAILABLE : 0) | checking | (flags & 0x0f);
  }

  #copy(packet: Uint8Array, to: number, from: number, length: number): void {
    const octets = this.#octets;
    for (let at = 0; at < length; at++) packet[to + at] = octets[from + at] ?? 0;
  }

  #copyRotated(
    packet: Uint8Array,
    to: number,
    records: number,
    length: number,
    stride: number,
    rotation: number,
  ): void {
    const begin = rotation & 0xffff;
    const run = (rotation >>> 16) * stride;
    const shift = this.#pick(rotation >>> 16) * stride;
    this.#copy(packet, to, records, begin);
    this.#copy(packet, to + begin, records + begin + shift, run - shift);
    this.#copy(packet, to + begin + run - shift, records + begin, shift);
    this.#copy(packet, to + begin + run, records + begin + run, length - begin - run);
  }

  #pick(count: number): number {
    let state = this.#random;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#random = state >>> 0;
    return this.#random % count;
  }

  /** Adds OPT where the client sent one (RFC 6891 section 6.1.1), DO repeated (RFC 3225 section 3). */
  #finish(packet: Uint8Array, start: number, end: number, additionals: number): number {
    const { hasOpt, dnssecOk } = this.#question;
    this.recordsEnd = end;
    const count = additionals + (hasOpt ? 1 : 0);
    packet[start + 10] = count >> 8;
    packet[start + 11] = count & 0xff;
    if (!hasOpt) return end - start;
    packet.fill(0, end, end + OPT_LENGTH);
    packet[end + 2] = 41;
    packet[end + 3] = this.#udpSize >> 8;
    packet[end + 4] = this.#udpSize & 0xff;
    packet[end + 7] = dnssecOk ? 0x80 : 0;
    return end + OPT_LENGTH - start;
  }

  /** The way of large answers: record by record while they fit, a rotating run from its random start. */
  #writeCut(
    packet: Uint8Array,
    start: number,
    most: number,
    body: number,
    recursionAvailable: boolean,
  ): number {
    const word = body >> 2;
    const counts = this.#words[word + (BODY.ANSWERS >> 2)] ?? 0;
    const additionals = this.#words[word + (BODY.ADDITIONALS >> 2)] ?? 0;
    const rotation = this.#words[word + (BODY.ROTATION >> 2)] ?? 0;
    const sections = [counts & 0xffff, counts >>> 16, additionals & 0xffff];
    const kept = [0, 0, 0];
    const records = this.#recordStarts(body, sections, rotation);
    let to = this.#question.end;
    const stop = to + this.#room(start, most);
    let index = 0;
    for (let section = 0; section < 3; section++) {
      for (let left = sections[section] ?? 0; left > 0; left--, index += 2) {
        const length = records[index + 1] ?? 0;
        if (to + length > stop) break;
        this.#copy(packet, to, records[index] ?? 0, length);
        to += length;
        kept[section] = (kept[section] ?? 0) + 1;
      }
      // What follows a record that had to go would seem to be the whole of its set.
      if ((kept[section] ?? 0) < (sections[section] ?? 0)) break;
    }
    this.#writeHeader(packet, start, this.#words[word] ?? 0, recursionAvailable);
    // Over TCP there is nothing larger to ask for.
    if ((kept[0] ?? 0) < (sections[0] ?? 0) && most < TCP_LIMIT)
      packet[start + 2] = (packet[start + 2] ?? 0) | FLAG_TRUNCATED;
    for (const section of [0, 1]) {
      packet[start + 6 + section * 2] = (kept[section] ?? 0) >> 8;
      packet[start + 7 + section * 2] = (kept[section] ?? 0) & 0xff;
    }
    return this.#finish(packet, start, to, kept[2] ?? 0);
  }

  /** Start and length of every record in the order to send them. */
  #recordStarts(body: number, sections: readonly number[], rotation: number): number[] {
    const first = body + BODY.RECORDS;
    const records: number[] = [];
    const total = sections.reduce((sum, count) => sum + count, 0);
    for (let at = first, left = total; left > 0; left--) {
      const length = this.#recordLength(at);
      records.push(at, length);
      at += length;
    }
    const count = rotation >>> 16;
    if (count < 2) return records;
    const before = records.indexOf(first + (rotation & 0xffff));
    const run = records.splice(before, count * 2);
    const shift = this.#pick(run.length / 2) * 2;
    records.splice(before, 0, ...run.slice(shift), ...run.slice(0, shift));
    return records;
  }

  /** The length of the record at this octet of the table: owner, ten fixed octets, data. */
  #recordLength(at: number): number {
    const octets = this.#octets;
    let end = at;
    while ((octets[end] ?? 0) !== 0 && (octets[end] ?? 0) < 0xc0) end += (octets[end] ?? 0) + 1;
    end += (octets[end] ?? 0) === 0 ? 1 : 2;
    return end + 10 + (((octets[end + 8] ?? 0) << 8) | (octets[end + 9] ?? 0)) - at;
  }
}
