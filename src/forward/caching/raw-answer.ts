/**
 * Makes the response to a client from a raw reply, by copying octets.
 *
 * The records stand behind the question in the reply, in the cache and in every response alike, and the question is equally long
 * in all of them: so pointers lead to the same names.
 */
import { OPT_OCTETS, writeOpt } from '../../wire/query-records.ts';
import { MAX_MESSAGE_OCTETS, maxResponseOctets } from '../../wire/response-size.ts';
import type { RawReply } from '../transport/raw-reply.ts';
import type { AnswerForm, UniformCaching } from './answer-form.ts';
import { type CachingRules, keepNegative, keepPositive, keptTtl } from './caching-rules.ts';

/** A query that waits, as octets, and what was read of it when it came. */
export interface RawQuery {
  readonly octets: Uint8Array;
  readonly start: number;
  /** The first octet behind its question, from `start` on. */
  readonly questionEnd: number;
  readonly question: { readonly dnssecOk: boolean };
  readonly hasOpt: boolean;
  /** What its OPT record says, in octets. */
  readonly udpSize: number;
}

/** In the third and fourth octet. */
const FLAG = { QR: 0x80, RD: 0x01, RA: 0x80, AD: 0x20, CD: 0x10 } as const;

export class RawAnswer {
  /** Where responses are written to. */
  readonly octets = new Uint8Array(MAX_MESSAGE_OCTETS);
  /** The seconds that the answer written last may be kept; 0: it must not be. */
  lifetime = 0;
  readonly #view = new DataView(this.octets.buffer);

  /**
   * Writes the response to a query, with the TTLs of its form.
   *
   * @param maxUdpSize what OPT records of our own say, and UDP responses may have at most, in octets
   * @returns the octets of the response; 0 if it does not fit, and then nothing was written
   */
  write(query: RawQuery, reply: RawReply, form: AnswerForm, maxUdpSize: number): number {
    const { questionEnd, hasOpt } = query;
    const isOwn = form.kind === 'own';
    const end = questionEnd + reply.recordsLength;
    if (!this.fits(query, reply, maxUdpSize)) return 0;
    this.#writeHead(query, reply, isOwn);
    this.#writeRecords(questionEnd, reply);
    if (!isOwn && form.rotates && reply.addresses > 1) this.#rotate(questionEnd, reply);
    this.lifetime = isOwn
      ? this.#boundTtls(questionEnd, reply, form.caching)
      : this.#unifyTtls(questionEnd, reply, form.caching);
    if (!hasOpt) return end;
    return writeOpt(this.octets, end, isOwn ? maxUdpSize : query.udpSize, 0, query.question.dnssecOk);
  }

  /** Whether the response to a query is no longer than its client takes. */
  fits({ questionEnd, hasOpt, udpSize }: RawQuery, { recordsLength }: RawReply, maxUdpSize: number): boolean {
    const length = questionEnd + recordsLength + (hasOpt ? OPT_OCTETS : 0);
    return length <= maxResponseOctets('udp', udpSize, maxUdpSize);
  }

  /** The flags of the answer written last: the second word of its header. */
  get flags(): number {
    return ((this.octets[2] ?? 0) << 8) | (this.octets[3] ?? 0);
  }

  #writeHead(
    { octets, start, questionEnd, hasOpt, question }: RawQuery,
    reply: RawReply,
    isOwn: boolean,
  ): void {
    const to = this.octets;
    for (let at = 0; at < questionEnd; at += 1) to[at] = octets[start + at] ?? 0;
    to[2] = isOwn ? FLAG.QR | FLAG.RD : reply.flags >> 8;
    const asked = octets[start + 3] ?? 0;
    const wantsAd = (asked & FLAG.AD) !== 0 || question.dnssecOk;
    const authentic = wantsAd && reply.authenticData ? FLAG.AD : 0;
    const kept = isOwn ? FLAG.RA | (asked & FLAG.CD) : reply.flags & (FLAG.RA | FLAG.CD);
    to[3] = kept | authentic | reply.rcode;
    to[7] = reply.answerCount;
    to[9] = reply.authorityCount;
    to[11] = hasOpt ? 1 : 0;
  }

  #writeRecords(recordsAt: number, { octets, recordsAt: from, recordsLength }: RawReply): void {
    const to = this.octets;
    for (let at = 0; at < recordsLength; at += 1) to[recordsAt + at] = octets[from + at] ?? 0;
  }

  /**
   * Brings the TTLs that were written within their bounds, where the answer may be kept.
   *
   * @returns the seconds that it may be kept, from 1; 0: it must not be
   */
  #boundTtls(recordsAt: number, reply: RawReply, rules: CachingRules): number {
    const { ttlOffsets, answerCount, authorityCount, negativeTtl } = reply;
    let minTtl = Number.POSITIVE_INFINITY;
    for (let index = 0; index < answerCount; index += 1)
      minTtl = Math.min(minTtl, this.#view.getUint32(recordsAt + (ttlOffsets[index] ?? 0)));
    const keeping =
      authorityCount > 0 ? keepNegative(negativeTtl, minTtl, rules) : keepPositive(minTtl, rules);
    if (keeping.kind === 'never') return 0;
    for (let index = 0; index < answerCount + authorityCount; index += 1) {
      const at = recordsAt + (ttlOffsets[index] ?? 0);
      const ttl = this.#view.getUint32(at);
      const bounded = keptTtl(ttl, keeping, rules);
      if (bounded !== ttl) this.#view.setUint32(at, bounded);
    }
    return keeping.seconds;
  }

  /** Has the addresses start with any of them. */
  #rotate(recordsAt: number, { octets, recordsAt: from, runAt, stride, addresses }: RawReply): void {
    const to = this.octets;
    // The choice need not be secret.
    const skipped = Math.floor(Math.random() * addresses) * stride;
    const length = addresses * stride;
    for (let at = 0; at < length; at += 1)
      to[recordsAt + runAt + at] = octets[from + runAt + ((at + skipped) % length)] ?? 0;
  }

  /** Gives all records one TTL, where answers are cached. @returns the seconds that the answer may be kept; 0: it must not be */
  #unifyTtls(recordsAt: number, reply: RawReply, caching: UniformCaching | undefined): number {
    if (caching === undefined) return 0;
    const { ttlOffsets, answerCount, authorityCount } = reply;
    const { minTtl, maxTtl } = authorityCount > 0 ? caching.denial : caching.success;
    let least = maxTtl;
    for (let index = 0; index < answerCount + authorityCount; index += 1)
      least = Math.min(least, this.#view.getUint32(recordsAt + (ttlOffsets[index] ?? 0)));
    const ttl = Math.min(Math.max(least, minTtl), maxTtl);
    for (let index = 0; index < answerCount + authorityCount; index += 1)
      this.#view.setUint32(recordsAt + (ttlOffsets[index] ?? 0), ttl);
    return ttl;
  }
}
