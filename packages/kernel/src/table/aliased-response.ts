/**
 * Writes answers with the records of another name behind an alias from the question's name to it.
 *
 * The alias spells the other name up to the labels that the question's name ends with too. All pointers to the other
 * name then lead there. The records come from a composition, or from a cached answer to a question for the other name.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import type { ComposedRecords } from './composer.ts';
import { BODY, CACHED } from './layout.ts';
import type { TableViews } from './memory.ts';
import type { QuestionReader } from './question.ts';
import type { ResponseWriter } from './response.ts';
import { VERDICT } from './types.ts';

/** Octets of a record before its data when its owner is a pointer. */
const FIXED_OCTETS = 12;
/** Octets between the owner of a record and its data. */
const FIELDS_OCTETS = 10;
const QUESTION_FIELDS = 4;
/** Octets of the numbers behind the names of an SOA record. */
const SOA_NUMBERS = 20;
const MAX_RECORDS = 64;
const MAX_LABELS = 128;
const POINTER = 0xc0;
const POINTER_TO_QUESTION = 0xc000 | HEADER_OCTETS;
const LONGEST = 4096;
/** Octets that spelling the names of an SOA record takes at most. */
const SPELLED_SOA = FIXED_OCTETS + SOA_NUMBERS + 3 * 255;

export class AliasedResponse {
  readonly #octets: Uint8Array;
  readonly #words: Uint32Array;
  readonly #question: QuestionReader;
  readonly #target: QuestionReader;
  readonly #response: ResponseWriter;
  /** The records, until all of them can be written. */
  readonly #records = new Uint8Array(LONGEST + SPELLED_SOA);
  readonly #view = new DataView(this.#records.buffer);
  #length = 0;
  /** Where the records begin in the message. */
  #origin = 0;
  /** Octets of the target's name that the alias spells, and where they lie in the message. */
  #spelled = 0;
  #spelledAt = 0;
  /** Where the rest of the target's name lies in the message. */
  #restAt = 0;
  /** Of the cached answer: the octet of its records, their place in their message, and the seconds since it was stored. */
  #body = 0;
  #bodyOrigin = 0;
  #age = 0;
  /** The maximum TTL. */
  #maxTtl = 0;
  /** The records of a set of addresses that begins anywhere: the octet of its first one, its octets, and those to skip. */
  #run = 0;
  #runLength = 0;
  #shift = 0;

  /** @param target the other name, as a question in `packet` of `prepare` */
  constructor(
    { octets, words }: TableViews,
    question: QuestionReader,
    target: QuestionReader,
    response: ResponseWriter,
  ) {
    this.#octets = octets;
    this.#words = words;
    this.#question = question;
    this.#target = target;
    this.#response = response;
  }

  /**
   * Writes the alias, but for its TTL.
   *
   * @param start of the query in its packet
   * @param spelling the message with the target's name as it is to be spelled
   */
  prepare(start: number, spelling: Uint8Array): void {
    const question = this.#question;
    const target = this.#target;
    this.#origin = question.end - start;
    const shared = this.#sharedLabels();
    const spelled = target.labelStarts[target.labels - shared] ?? 0;
    this.#spelled = spelled;
    this.#spelledAt = this.#origin + FIXED_OCTETS;
    this.#restAt = HEADER_OCTETS + (question.labelStarts[question.labels - shared] ?? 0);
    const records = this.#records;
    const view = this.#view;
    view.setUint16(0, POINTER_TO_QUESTION);
    view.setUint16(2, TYPE.CNAME);
    view.setUint16(4, CLASS.IN);
    let at = FIXED_OCTETS;
    for (let index = 0; index < spelled; index++) records[at++] = spelling[HEADER_OCTETS + index] ?? 0;
    if (shared === 0) records[at++] = 0;
    else {
      view.setUint16(at, 0xc000 | this.#restAt);
      at += 2;
    }
    view.setUint16(FIELDS_OCTETS, at - FIXED_OCTETS);
    this.#length = at;
  }

  /** Labels at the end of both names that are the same. */
  #sharedLabels(): number {
    const one = this.#question;
    const other = this.#target;
    let shared = 0;
    for (let limit = Math.min(one.labels, other.labels); shared < limit; shared++) {
      const at = one.labelStarts[one.labels - shared - 1] ?? 0;
      const from = other.labelStarts[other.labels - shared - 1] ?? 0;
      const length = one.name[at] ?? 0;
      for (let index = 0; index <= length; index++)
        if (one.name[at + index] !== other.name[from + index]) return shared;
    }
    return shared;
  }

  /** Answers with composed addresses. Call `prepare` first. @param packet of the query @returns length, or `VERDICT.ASK` */
  writeComposed(
    packet: Uint8Array,
    start: number,
    max: number,
    composition: ComposedRecords,
    flags: number,
    recursionAvailable: boolean,
  ): number {
    const { length, answers, additionals, isCut } = composition;
    const stride = this.#question.type === TYPE.A ? FIXED_OCTETS + 4 : FIXED_OCTETS + 16;
    if (isCut || additionals > 0 || length !== answers * stride || answers === 0) return VERDICT.ASK;
    if (this.#length + length > Math.min(LONGEST, this.#response.freeOctets(start, max))) return VERDICT.ASK;
    this.#view.setUint32(6, composition.view.getUint32(6));
    const { octets } = composition;
    for (let record = 0; record < length; record += stride) {
      this.#view.setUint16(this.#length, 0xc000 | this.#placeInTarget(0));
      for (let at = 2; at < stride; at++) this.#records[this.#length + at] = octets[record + at] ?? 0;
      this.#length += stride;
    }
    return this.#finish(packet, start, flags, answers + 1, 0, recursionAvailable);
  }

  /**
   * Answers with the records of a cached answer. Call `prepare` first, unless it has no answer records.
   *
   * @param entry the octet of the answer, which is for a question about the target
   * @param age seconds since it was stored
   * @returns the response's length, or `VERDICT.ASK`
   */
  writeCached(
    packet: Uint8Array,
    start: number,
    max: number,
    entry: number,
    age: number,
    maxTtl: number,
    recursionAvailable: boolean,
  ): number {
    const words = this.#words;
    const body = entry + (words[(entry + CACHED.BODY) >> 2] ?? 0);
    const flags = words[body >> 2] ?? 0;
    const counts = words[(body + BODY.ANSWERS) >> 2] ?? 0;
    const answers = counts & 0xffff;
    const authorities = counts >>> 16;
    const additionals = (words[(body + BODY.ADDITIONALS) >> 2] ?? 0) & 0xffff;
    const free = Math.min(LONGEST, this.#response.freeOctets(start, max));
    if (additionals > 0 || answers + authorities > MAX_RECORDS) return VERDICT.ASK;
    this.#body = body + BODY.RECORDS;
    this.#bodyOrigin = HEADER_OCTETS + this.#target.nameLength + QUESTION_FIELDS;
    this.#age = Math.max(0, age);
    this.#maxTtl = maxTtl;
    if (answers === 0) {
      this.#origin = this.#question.end - start;
      if (authorities !== 1 || !this.#spellSoa() || this.#length > free) return VERDICT.ASK;
      return this.#finish(packet, start, flags, 0, 1, recursionAvailable);
    }
    if (this.#length + (flags >>> 8) > free) return VERDICT.ASK;
    this.#rotate(body);
    const alias = this.#length;
    let from = this.#body;
    for (let record = 0; record < answers + authorities; record++) {
      const length = this.#copyRecord(this.#placeInRun(from));
      if (length === 0) return VERDICT.ASK;
      from += length;
    }
    this.#view.setUint32(6, this.#view.getUint32(this.#ttlAt(alias)));
    return this.#finish(packet, start, flags, answers + 1, authorities, recursionAvailable);
  }

  #rotate(body: number): void {
    const words = this.#words;
    const rotation = words[(body + BODY.ROTATION) >> 2] ?? 0;
    const stride = (words[(body + BODY.ADDITIONALS) >> 2] ?? 0) >>> 16;
    const count = rotation >>> 16;
    this.#run = this.#body + (rotation & 0xffff);
    this.#runLength = count * stride;
    this.#shift = this.#response.rotates && count > 1 ? this.#response.pick(count) * stride : 0;
  }

  #placeInRun(from: number): number {
    const offset = from - this.#run;
    if (offset < 0 || offset >= this.#runLength) return from;
    return this.#run + ((offset + this.#shift) % this.#runLength);
  }

  /** Where the TTL of a record lies that was copied. */
  #ttlAt(record: number): number {
    let at = record;
    while ((this.#records[at] ?? 0) !== 0 && (this.#records[at] ?? 0) < POINTER)
      at += (this.#records[at] ?? 0) + 1;
    return at + ((this.#records[at] ?? 0) === 0 ? 1 : 2) + 4;
  }

  /** Copies a record with the places that its pointers lead to now. @returns its octets; 0: it cannot be copied */
  #copyRecord(from: number): number {
    const octets = this.#octets;
    const named = this.#copyName(from);
    const at = from + named;
    const type = ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
    const length = ((octets[at + 8] ?? 0) << 8) | (octets[at + 9] ?? 0);
    const data = at + FIELDS_OCTETS;
    this.#copyFields(at);
    let names = 0;
    if (type === TYPE.CNAME || type === TYPE.SOA) names = this.#copyName(data);
    if (type === TYPE.SOA) names += this.#copyName(data + names);
    else if (type !== TYPE.A && type !== TYPE.AAAA && type !== TYPE.CNAME) return 0;
    this.#copy(data + names, length - names);
    return named + FIELDS_OCTETS + length;
  }

  /** Copies type, class, TTL and length of a record. */
  #copyFields(from: number): void {
    this.#copy(from, FIELDS_OCTETS);
    const ttlAt = this.#length - 6;
    const left = Math.max(0, this.#view.getUint32(ttlAt) - this.#age);
    this.#view.setUint32(ttlAt, Math.min(left, this.#maxTtl));
  }

  #copy(from: number, length: number): void {
    for (let at = 0; at < length; at++) this.#records[this.#length + at] = this.#octets[from + at] ?? 0;
    this.#length += Math.max(0, length);
  }

  /** Copies a name. @returns its octets */
  #copyName(from: number): number {
    const octets = this.#octets;
    let at = from;
    for (let labels = 0; labels < MAX_LABELS; labels++) {
      const length = octets[at] ?? 0;
      if (length >= POINTER) {
        const pointer = ((length & 0x3f) << 8) | (octets[at + 1] ?? 0);
        this.#view.setUint16(this.#length, 0xc000 | this.#relocatePointer(pointer));
        this.#length += 2;
        return at + 2 - from;
      }
      this.#copy(at, length + 1);
      at += length + 1;
      if (length === 0) break;
    }
    return at - from;
  }

  /** Where a pointer of the cached answer leads to now. */
  #relocatePointer(pointer: number): number {
    if (pointer < this.#bodyOrigin) return this.#placeInTarget(pointer - HEADER_OCTETS);
    // The records lie behind the alias, all of them as long as they were.
    return pointer - this.#bodyOrigin + this.#origin + this.#aliasLength();
  }

  #aliasLength(): number {
    return FIXED_OCTETS + this.#view.getUint16(FIELDS_OCTETS);
  }

  /** @param offset in the target's name */
  #placeInTarget(offset: number): number {
    return offset < this.#spelled ? this.#spelledAt + offset : this.#restAt + offset - this.#spelled;
  }

  /** Writes the SOA record of a denial: its owner in full, other names with pointers to it. @returns whether it is one */
  #spellSoa(): boolean {
    const octets = this.#octets;
    const owner = this.#body;
    const pointer = (((octets[owner] ?? 0) & 0x3f) << 8) | (octets[owner + 1] ?? 0);
    const at = owner + 2;
    const type = ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
    // The apex is a part of the name, but for the root.
    if ((octets[owner] ?? 0) < POINTER || pointer >= this.#bodyOrigin || type !== TYPE.SOA) return false;
    this.#length = 0;
    const apex = pointer - HEADER_OCTETS;
    const { name, nameLength } = this.#target;
    for (let from = apex; from < nameLength; from++) this.#records[this.#length++] = name[from] ?? 0;
    this.#copyFields(at);
    const data = at + FIELDS_OCTETS;
    const lengthAt = this.#length - 2;
    const primary = this.#spell(data, apex);
    const mailbox = this.#spell(data + primary, apex);
    this.#copy(data + primary + mailbox, SOA_NUMBERS);
    this.#view.setUint16(lengthAt, this.#length - lengthAt - 2);
    return true;
  }

  /** Spells a name up to the part that is the apex. @param apex its offset in the target's name @returns octets of the name as it was */
  #spell(from: number, apex: number): number {
    const octets = this.#octets;
    const { name } = this.#target;
    const bound = this.#length + 255;
    let at = from;
    let read = 0;
    for (let labels = 0; labels < MAX_LABELS && this.#length < bound; labels++) {
      const length = octets[at] ?? 0;
      if (length < POINTER) {
        this.#copy(at, length + 1);
        at += length + 1;
        if (length === 0) break;
        continue;
      }
      if (read === 0) read = at + 2 - from;
      const pointer = ((length & 0x3f) << 8) | (octets[at + 1] ?? 0);
      if (pointer >= this.#bodyOrigin) {
        at = this.#body + pointer - this.#bodyOrigin;
        continue;
      }
      let offset = pointer - HEADER_OCTETS;
      for (; offset < apex; offset++) this.#records[this.#length++] = name[offset] ?? 0;
      this.#view.setUint16(this.#length, 0xc000 | (this.#origin + offset - apex));
      this.#length += 2;
      break;
    }
    return read === 0 ? at - from : read;
  }

  #finish(
    packet: Uint8Array,
    start: number,
    flags: number,
    answers: number,
    authorities: number,
    recursionAvailable: boolean,
  ): number {
    const to = this.#question.end;
    const records = this.#records;
    for (let at = 0; at < this.#length; at++) packet[to + at] = records[at] ?? 0;
    return this.#response.finishRecords(
      start,
      to + this.#length,
      flags,
      answers,
      authorities,
      recursionAvailable,
    );
  }
}
