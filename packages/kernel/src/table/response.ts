/**
 * Writes responses over their queries: header, the client's own question, a stored body, OPT.
 *
 * A body that fits is copied at once, its rotating records from a random start. A larger body is cut at a record
 * boundary; TC is set only if answer records are missing (RFC 2181 section 9).
 */
import { writeExtendedError, writePassedErrors } from '@portolan/dns/extended-error.ts';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { MINIMAL_ANY_OCTETS } from '@portolan/dns/minimal-any.ts';
import { copyRepeated, measureRepeated } from '@portolan/dns/passing-options.ts';
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import type { ComposedRecords } from './composer.ts';
import { BODY, BODY_AUTHENTIC, BODY_AUTHORITATIVE, BODY_LENGTH_SHIFT, ZONE, ZONE_FLAG } from './layout.ts';
import type { TableViews } from './memory.ts';
import type { QuestionReader } from './question.ts';
import { VERDICT } from './types.ts';

/** Bits of the header's second word; RD and CD are kept from the query. */
const FLAG = {
  RESPONSE: 0x8000,
  AUTHORITATIVE: 0x0400,
  TRUNCATED: 0x0200,
  RECURSION_AVAILABLE: 0x80,
  AUTHENTIC_DATA: 0x20,
  KEPT: 0x0110,
} as const;

/** Octets of options that responses repeat at most; beyond them the chain answers. */
const MAX_REPEATED_OCTETS = 512;

export class ResponseWriter {
  readonly #octets: Uint8Array;
  readonly #words: Uint32Array;
  readonly #question: QuestionReader;
  /** The UDP size of our OPT records. */
  readonly #udpSize: number;
  #packet: Uint8Array = new Uint8Array();
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The state of copying a large answer. */
  readonly #cut = { records: 0, runStart: 0, runLength: 0, shift: 0, to: 0, stop: 0 };
  /** State of a xorshift generator: where a rotation starts. Never 0. */
  #random = (Math.floor(Math.random() * 0x7fffffff) | 1) >>> 0;
  /** Where the records of the last response ended in its packet, before OPT. */
  recordsEnd = 0;
  /** Whether the client cannot ask for a longer response than this one: it came over TCP. */
  isLongest = false;
  /** Whether address sets start at a random record; if not, they keep the stored order. */
  rotates = true;
  /** The options that the response repeats: it is written over the query that has them. */
  readonly #options = new Uint8Array(MAX_REPEATED_OCTETS);
  readonly #optionsView = new DataView(this.#options.buffer);
  #optionsLength = 0;
  /** Whether to return the client's own UDP size. */
  repeatsOpt = false;
  /** Whether responses of such a view are cut here; if not, there is less room than the client takes, and the chain answers. */
  cuts = true;

  constructor(views: TableViews, question: QuestionReader, udpSize: number) {
    this.#octets = views.octets;
    this.#words = views.words;
    this.#question = question;
    this.#udpSize = udpSize;
  }

  /** Begins the response to another packet and resets all state. @param isLongest see the field */
  begin(isLongest: boolean): void {
    this.recordsEnd = 0;
    this.#optionsLength = 0;
    this.isLongest = isLongest;
    this.rotates = true;
    this.repeatsOpt = false;
    this.cuts = true;
  }

  /** Has the response repeat options of its query. @param max octets of the whole response @returns false if they are too long */
  repeatOptions(start: number, max: number): boolean {
    const { packet, optionsStart, optionsEnd } = this.#question;
    const repeated = measureRepeated(packet, optionsStart, optionsEnd);
    if (repeated === 0) return true;
    if (repeated > MAX_REPEATED_OCTETS) return false;
    // Nearly always there is one option, or all are repeated.
    if (repeated === optionsEnd - optionsStart)
      copyOctets(this.#view, optionsStart, this.#optionsView, 0, repeated);
    else copyRepeated(packet, optionsStart, optionsEnd, this.#options, 0);
    this.#optionsLength = repeated;
    return this.freeOctets(start, max) >= 0;
  }

  /** Sets the memory that responses are written to. @param view exactly the octets of `packet` */
  bind(packet: Uint8Array, view: DataView): void {
    this.#packet = packet;
    this.#view = view;
  }

  /**
   * Answers with a stored body.
   *
   * @param body its octet in the table
   * @param max octets of the whole response
   * @returns the response's length, or `VERDICT.ASK`
   */
  writeBody(start: number, max: number, body: number, recursionAvailable: boolean): number {
    const words = this.#words;
    const word = body >> 2;
    const flags = words[word] ?? 0;
    const length = flags >>> BODY_LENGTH_SHIFT;
    const counts = words[word + (BODY.ANSWERS >> 2)] ?? 0;
    const from = this.#question.end;
    if (length > this.freeOctets(start, max))
      return this.#mayCut(body) ? this.#writeCut(start, max, body, recursionAvailable) : VERDICT.ASK;
    this.#writeHeader(start, flags, recursionAvailable);
    this.#view.setUint16(start + 6, counts & 0xffff);
    this.#view.setUint16(start + 8, counts >>> 16);
    const additionals = words[word + (BODY.ADDITIONALS >> 2)] ?? 0;
    const rotation = words[word + (BODY.ROTATION >> 2)] ?? 0;
    if (this.rotates && rotation >>> 16 > 1)
      this.#copyRotated(from, body + BODY.RECORDS, length, additionals >>> 16, rotation);
    else this.#copy(from, body + BODY.RECORDS, length);
    return this.#finish(start, from + length, additionals & 0xffff);
  }

  /**
   * Answers with composed records. TC says that answers are missing; over TCP the client cannot ask for more.
   *
   * @returns the response's length, or `VERDICT.ASK`
   */
  writeComposed(start: number, composition: ComposedRecords, recursionAvailable: boolean): number {
    const { length, answers, additionals, isCut, isWithoutAdditionals } = composition;
    if (this.repeatsOpt && (isWithoutAdditionals || (isCut && !this.cuts))) return VERDICT.ASK;
    const from = this.#question.end;
    this.#writeHeader(start, BODY_AUTHORITATIVE, recursionAvailable);
    const view = this.#view;
    if (isCut && !this.isLongest) view.setUint16(start + 2, view.getUint16(start + 2) | FLAG.TRUNCATED);
    view.setUint16(start + 6, answers);
    view.setUint16(start + 8, 0);
    const packet = this.#packet;
    const { octets } = composition;
    let at = 0;
    for (; at + 4 <= length; at += 4) view.setInt32(from + at, composition.view.getInt32(at));
    for (; at < length; at++) packet[from + at] = octets[at] ?? 0;
    return this.#finish(start, from + length, additionals);
  }

  /**
   * Answers with records that already lie behind the question.
   *
   * @param flags of a body
   * @param end the first octet behind the records
   * @returns the response's length
   */
  finishRecords(
    start: number,
    end: number,
    flags: number,
    answers: number,
    authorities: number,
    recursionAvailable: boolean,
  ): number {
    this.#writeHeader(start, flags, recursionAvailable);
    this.#view.setUint16(start + 6, answers);
    this.#view.setUint16(start + 8, authorities);
    return this.#finish(start, end, 0);
  }

  /** Record sets of other sections are left out as a whole, which the chain does. */
  #mayCut(body: number): boolean {
    if (!this.repeatsOpt) return true;
    const words = this.#words;
    const authorities = (words[(body + BODY.ANSWERS) >> 2] ?? 0) >>> 16;
    const additionals = (words[(body + BODY.ADDITIONALS) >> 2] ?? 0) & 0xffff;
    return this.cuts && authorities === 0 && additionals === 0;
  }

  /** Answers NODATA or NXDOMAIN with the zone's SOA (RFC 2308 section 2). @param settings their octet in the table */
  writeNegative(
    start: number,
    max: number,
    settings: number,
    rcode: number,
    recursionAvailable: boolean,
  ): number {
    const words = this.#words;
    const flags = words[(settings + ZONE.FLAGS) >> 2] ?? 0;
    const length = (words[(settings + ZONE.LENGTHS) >> 2] ?? 0) >>> 16;
    const from = this.#question.end;
    if (this.repeatsOpt && length > this.freeOctets(start, max)) return VERDICT.ASK;
    const authoritative = rcode === RCODE.NOERROR || (flags & ZONE_FLAG.AUTHORITATIVE_NXDOMAIN) !== 0;
    this.#writeHeader(start, rcode | (authoritative ? BODY_AUTHORITATIVE : 0), recursionAvailable);
    this.#view.setInt32(start + 6, 0);
    if (length > this.freeOctets(start, max)) return this.#finish(start, from, 0);
    this.#view.setUint8(start + 9, 1);
    this.#copySoa(from, settings, length);
    return this.#finish(start, from + length, 0);
  }

  /** Answers a question for ANY at a name that exists (RFC 8482 section 4.2). */
  writeMinimalAny(start: number, recursionAvailable: boolean): number {
    this.#writeHeader(start, BODY_AUTHORITATIVE, recursionAvailable);
    this.#view.setInt32(start + 6, 0);
    this.#view.setUint8(start + 7, 1);
    const from = this.#question.end;
    this.#packet.set(MINIMAL_ANY_OCTETS, from);
    return this.#finish(start, from + MINIMAL_ANY_OCTETS.length, 0);
  }

  /** Answers with a bare response code. */
  writeCode(start: number, rcode: number, recursionAvailable: boolean): number {
    this.#writeHeader(start, rcode, recursionAvailable);
    this.#view.setInt32(start + 6, 0);
    return this.#finish(start, this.#question.end, 0);
  }

  /**
   * Adds an extended error behind the response that was written last, if its client sent OPT.
   *
   * @param length of the response, or a `VERDICT`
   * @param max octets of the whole response
   * @returns the length with it; `length` where it does not fit
   */
  addExtendedError(start: number, length: number, max: number, code: number): number {
    if (length <= 0 || !this.#question.hasOpt) return length;
    const options = this.#optionsLength;
    return writeExtendedError(this.#view, start, start + length, start + max, code, options) - start;
  }

  /**
   * Adds the extended errors of an upstream server, for a client that sent OPT.
   *
   * @param length of the response before its extended errors
   * @param explained its length with our own
   * @param errors where the word with their octets lies in the table
   */
  addPassedErrors(start: number, length: number, explained: number, max: number, errors: number): number {
    const from = errors + 4;
    const to = from + (this.#words[errors >> 2] ?? 0);
    const end = start + explained;
    const stop = start + max;
    const options = this.#optionsLength + explained - length;
    return writePassedErrors(this.#view, start, end, stop, this.#octets, from, to, options) - start;
  }

  /** Copies the zone's SOA record, and sets its pointers to the apex for the current question. */
  #copySoa(to: number, settings: number, length: number): void {
    const apexLength = (this.#words[(settings + ZONE.LENGTHS) >> 2] ?? 0) & 0xffff;
    const record = this.#words[(settings + ZONE.RECORD) >> 2] ?? 0;
    this.#copy(to, settings + (record & 0xffff), length);
    const pointer = HEADER_OCTETS + this.#question.nameLength - apexLength;
    for (let index = 0, count = record >>> 16; index < count; index++) {
      const where = settings + ZONE.POINTERS + index * 2;
      const at = to + ((this.#octets[where] ?? 0) | ((this.#octets[where + 1] ?? 0) << 8));
      this.#view.setUint16(at, 0xc000 | pointer);
    }
  }

  /** Octets available for records. @param max octets of the whole response */
  freeOctets(start: number, max: number): number {
    return (
      max - (this.#question.end - start) - (this.#question.hasOpt ? OPT_OCTETS + this.#optionsLength : 0)
    );
  }

  #writeHeader(start: number, flags: number, recursionAvailable: boolean): void {
    const view = this.#view;
    const asked = view.getUint16(start + 2);
    const authoritative = flags & BODY_AUTHORITATIVE ? FLAG.AUTHORITATIVE : 0;
    const recursion = recursionAvailable ? FLAG.RECURSION_AVAILABLE : 0;
    const wantsAd = (asked & FLAG.AUTHENTIC_DATA) !== 0 || this.#question.dnssecOk;
    const authentic = wantsAd && (flags & BODY_AUTHENTIC) !== 0 ? FLAG.AUTHENTIC_DATA : 0;
    view.setUint16(
      start + 2,
      FLAG.RESPONSE | (asked & FLAG.KEPT) | authoritative | authentic | recursion | (flags & 0x0f),
    );
  }

  /** Copies octets of the table into the packet, by words where they are aligned in the table. */
  #copy(to: number, from: number, length: number): void {
    const view = this.#view;
    let at = 0;
    if ((from & 3) === 0) {
      const words = this.#words;
      for (let word = from >> 2; at + 4 <= length; at += 4, word++)
        view.setUint32(to + at, words[word] ?? 0, true);
    }
    const octets = this.#octets;
    const packet = this.#packet;
    for (; at < length; at++) packet[to + at] = octets[from + at] ?? 0;
  }

  #copyRotated(to: number, records: number, length: number, stride: number, rotation: number): void {
    const begin = rotation & 0xffff;
    const run = (rotation >>> 16) * stride;
    const shift = this.pick(rotation >>> 16) * stride;
    this.#copy(to, records, begin);
    this.#copy(to + begin, records + begin + shift, run - shift);
    this.#copy(to + begin + run - shift, records + begin, shift);
    this.#copy(to + begin + run, records + begin + run, length - begin - run);
  }

  /** A random number below `count`. */
  pick(count: number): number {
    let state = this.#random;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#random = state >>> 0;
    return this.#random % count;
  }

  /** Adds OPT where the client sent one (RFC 6891 section 6.1.1), DO repeated (RFC 3225 section 3). */
  #finish(start: number, end: number, additionals: number): number {
    const { hasOpt, dnssecOk, udpSize } = this.#question;
    this.recordsEnd = end;
    const count = additionals + (hasOpt ? 1 : 0);
    const view = this.#view;
    view.setUint16(start + 10, count);
    if (!hasOpt) return end - start;
    view.setUint32(end, TYPE.OPT << 8);
    view.setUint32(end + 3, (this.repeatsOpt ? udpSize : this.#udpSize) << 16);
    view.setUint32(end + 7, dnssecOk ? 0x80000000 : 0);
    const length = this.#optionsLength;
    if (length === 0) return end + OPT_OCTETS - start;
    view.setUint16(end + OPT_OCTETS - 2, length);
    copyOctets(this.#optionsView, 0, view, end + OPT_OCTETS, length);
    return end + OPT_OCTETS + length - start;
  }

  /**
   * Writes a large answer: record by record while they fit, a rotating run from its random start. Records after the
   * first missing one are omitted too: otherwise they would look like a complete set.
   */
  #writeCut(start: number, max: number, body: number, recursionAvailable: boolean): number {
    const words = this.#words;
    const counts = words[(body + BODY.ANSWERS) >> 2] ?? 0;
    const additionals = words[(body + BODY.ADDITIONALS) >> 2] ?? 0;
    const rotation = words[(body + BODY.ROTATION) >> 2] ?? 0;
    const cut = this.#cut;
    cut.records = body + BODY.RECORDS;
    cut.runStart = cut.records + (rotation & 0xffff);
    cut.runLength = (rotation >>> 16) * (additionals >>> 16);
    cut.shift = this.rotates && rotation >>> 16 > 1 ? this.pick(rotation >>> 16) * (additionals >>> 16) : 0;
    cut.to = this.#question.end;
    cut.stop = cut.to + this.freeOctets(start, max);
    const answers = this.#copyWhileFits(counts & 0xffff);
    const isWhole = answers === (counts & 0xffff);
    const authorities = isWhole ? this.#copyWhileFits(counts >>> 16) : 0;
    const rest = isWhole && authorities === counts >>> 16 ? this.#copyWhileFits(additionals & 0xffff) : 0;
    this.#writeHeader(start, words[body >> 2] ?? 0, recursionAvailable);
    // A referral or a denial consists of what is behind the answers.
    const isSaid = answers > 0 || authorities + rest === (counts >>> 16) + (additionals & 0xffff);
    // Over TCP the client cannot ask for a longer response.
    if (!(isWhole && isSaid) && !this.isLongest)
      this.#view.setUint16(start + 2, this.#view.getUint16(start + 2) | FLAG.TRUNCATED);
    this.#view.setUint16(start + 6, answers);
    this.#view.setUint16(start + 8, authorities);
    return this.#finish(start, cut.to, rest);
  }

  /** Copies up to `count` records. @returns how many fitted */
  #copyWhileFits(count: number): number {
    const cut = this.#cut;
    for (let copied = 0; copied < count; copied++) {
      const offset = cut.records - cut.runStart;
      const isInRun = offset >= 0 && offset < cut.runLength;
      const from = isInRun ? cut.runStart + ((offset + cut.shift) % cut.runLength) : cut.records;
      const length = this.#recordLength(from);
      if (cut.to + length > cut.stop) return copied;
      this.#copy(cut.to, from, length);
      cut.to += length;
      cut.records += length;
    }
    return count;
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

/** Copies octets between memories, four at a time. */
function copyOctets(from: DataView, start: number, to: DataView, at: number, length: number): void {
  let done = 0;
  for (; done + 4 <= length; done += 4) to.setInt32(at + done, from.getInt32(start + done));
  for (; done < length; done++) to.setUint8(at + done, from.getUint8(start + done));
}
