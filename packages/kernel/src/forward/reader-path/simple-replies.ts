/**
 * Reads replies to the questions of slots, and answers them, as octets.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE } from '@portolan/dns/label.ts';
import { CLASS } from '@portolan/dns/types.ts';
import type { AnswerForm } from '../caching/answer-form.ts';
import { RawAnswer } from '../caching/raw-answer.ts';
import { RawReply } from '../transport/raw-reply.ts';
import { FILL_FLAG } from './fill-ring.ts';
import type { PendingQueries } from './pending-queries.ts';

/** In the third octet of a header. */
const AUTHORITATIVE = 0x04;

export class SimpleReplies {
  /** The last reply read. */
  readonly raw = new RawReply();
  readonly #answer = new RawAnswer();
  readonly #pending: PendingQueries;
  readonly #udpSize: number;
  /** The query of one client. */
  readonly #query;

  /** @param udpSize the UDP size in our OPT records, and the limit of UDP responses */
  constructor(pending: PendingQueries, udpSize: number) {
    this.#pending = pending;
    this.#udpSize = udpSize;
    const question = { dnssecOk: false };
    const { octets } = pending;
    this.#query = {
      octets,
      start: 0,
      questionEnd: 0,
      question,
      hasOpt: false,
      udpSize: 0,
      optionsStart: 0,
      optionsEnd: 0,
    };
  }

  /** The memory that begins with the last written response; and its flags. */
  get octets(): Uint8Array {
    return this.#answer.octets;
  }

  get flags(): number {
    return this.#answer.flags;
  }

  /** Seconds for which it may be cached; 0: it must not be cached. */
  get lifetime(): number {
    return this.#answer.lifetime;
  }

  /** Whether a packet repeats the question of a slot, ignoring case (RFC 5452 section 9.1). */
  repeatsQuestion(slot: number, packet: Uint8Array, start: number, length: number): boolean {
    const { octets, questionEnd, first } = this.#pending;
    const end = questionEnd[slot] ?? 0;
    if (length < end) return false;
    const from = this.#pending.queryStartAt(first[slot] ?? 0);
    for (let at = HEADER_OCTETS; at < end - 4; at++)
      if (LOWER_CASE[packet[start + at] ?? 0] !== LOWER_CASE[octets[from + at] ?? 0]) return false;
    for (let at = end - 4; at < end; at++) if (packet[start + at] !== octets[from + at]) return false;
    return true;
  }

  /** Reads the reply to the question of a slot. @returns whether it is plain */
  read(slot: number, packet: Uint8Array, start: number, length: number, trustsAd: boolean): boolean {
    const { questionEnd, type } = this.#pending;
    if (!this.raw.read(packet, start, length, questionEnd[slot] ?? 0, type[slot] ?? 0, CLASS.IN))
      return false;
    this.raw.authenticData &&= trustsAd;
    return true;
  }

  /** Whether the reply fits all clients that wait for a slot. */
  fitsAll(slot: number, form: AnswerForm): boolean {
    const { first, next } = this.#pending;
    for (let client = first[slot] ?? -1; client >= 0; client = next[client] ?? -1)
      if (!this.fits(slot, client, form)) return false;
    return true;
  }

  fits(slot: number, client: number, form: AnswerForm): boolean {
    return this.#answer.fits(this.#loadQuery(slot, client), this.raw, form, this.#udpSize);
  }

  /** Writes the response to a client from the reply, which must fit. @returns its octets */
  write(slot: number, client: number, form: AnswerForm): number {
    return this.#answer.write(this.#loadQuery(slot, client), this.raw, form, this.#udpSize);
  }

  /** The same, as the cache will answer it. Some old clients discard cached answers without AA. */
  writeKept(slot: number, client: number, form: AnswerForm): number {
    const length = this.write(slot, client, form);
    const { octets } = this;
    if (form.kind === 'as-sent' && this.lifetime > 0) octets[2] = (octets[2] ?? 0) | AUTHORITATIVE;
    return length;
  }

  #loadQuery(slot: number, client: number) {
    const pending = this.#pending;
    const query = this.#query;
    query.start = pending.queryStartAt(client);
    query.questionEnd = pending.questionEnd[slot] ?? 0;
    query.question.dnssecOk = ((pending.flags[slot] ?? 0) & FILL_FLAG.DNSSEC_OK) !== 0;
    query.hasOpt = pending.hasOpt[client] === 1;
    query.udpSize = pending.udpSize[client] ?? 0;
    query.optionsStart = query.start + (pending.options[client] ?? 0);
    query.optionsEnd = query.optionsStart + (pending.optionsLength[client] ?? 0);
    return query;
  }
}
