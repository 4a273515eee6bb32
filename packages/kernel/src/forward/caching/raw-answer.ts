/**
 * Makes the response to a client from a raw reply by copying octets.
 *
 * In the reply, the cache and every response, the records follow a question of equal length. So pointers lead to the same names.
 */
import { copyRepeated, measureRepeated } from '@portolan/dns/passing-options.ts';
import { OPT_OCTETS, writeOpt } from '@portolan/dns/query-records.ts';
import { MAX_MESSAGE_OCTETS, maxResponseOctets } from '@portolan/dns/response-size.ts';
import type { RawReply } from '../transport/raw-reply.ts';
import type { AnswerForm, UniformCaching } from './answer-form.ts';
import { type CachingRules, keepNegative, keepPositive, keptTtl } from './caching-rules.ts';

/** A waiting query: its octets, and the fields parsed on arrival. */
export interface RawQuery {
  readonly octets: Uint8Array;
  readonly start: number;
  /** The first octet after its question, relative to `start`. */
  readonly questionEnd: number;
  readonly question: { readonly dnssecOk: boolean };
  readonly hasOpt: boolean;
  /** The UDP size in its OPT record, in octets. */
  readonly udpSize: number;
  /** Where the options of its OPT record begin in `octets`, and the octet behind them. */
  readonly optionsStart: number;
  readonly optionsEnd: number;
}

/** CoreDNS passes on the OPT record of a reply, but not through a cache or `minimal`; without one, it repeats options of the query. */
function optionsFrom(form: AnswerForm, reply: RawReply): 'none' | 'query' | 'reply' {
  if (form.kind === 'own') return 'none';
  const isDropped = form.caching !== undefined || (form.dropsOpt && reply.authorityCount === 0);
  return isDropped || !reply.hasOpt ? 'query' : 'reply';
}

/** The octets of the options in the response to a query. */
function measureOptions(
  { octets, optionsStart, optionsEnd }: RawQuery,
  reply: RawReply,
  form: AnswerForm,
): number {
  switch (optionsFrom(form, reply)) {
    case 'none':
      return 0;
    case 'query':
      return optionsEnd > optionsStart ? measureRepeated(octets, optionsStart, optionsEnd) : 0;
    case 'reply':
      return reply.optionsLength;
  }
}

/** In the third and fourth octet. */
const FLAG = { QR: 0x80, RD: 0x01, RA: 0x80, AD: 0x20, CD: 0x10 } as const;

export class RawAnswer {
  /** The memory for responses. */
  readonly octets = new Uint8Array(MAX_MESSAGE_OCTETS);
  /** Seconds for which the last written answer may be cached; 0: it must not be cached. */
  lifetime = 0;
  readonly #view = new DataView(this.octets.buffer);

  /**
   * Writes the response to a query, with TTLs by `form`.
   *
   * @param maxUdpSize the UDP size in our OPT records, and the limit of UDP responses, in octets
   * @returns the octets of the response; 0 if it does not fit, and is not written
   */
  write(query: RawQuery, reply: RawReply, form: AnswerForm, maxUdpSize: number): number {
    const { questionEnd, hasOpt } = query;
    const isOwn = form.kind === 'own';
    const end = questionEnd + reply.recordsLength;
    if (!this.fits(query, reply, form, maxUdpSize)) return 0;
    this.#writeHead(query, reply, form);
    this.#writeRecords(questionEnd, reply);
    if (!isOwn && form.rotates && reply.addresses > 1) this.#rotate(questionEnd, reply);
    this.lifetime = isOwn
      ? this.#boundTtls(questionEnd, reply, form.caching)
      : this.#unifyTtls(questionEnd, reply, form.caching);
    if (!hasOpt) return end;
    const optEnd = writeOpt(this.octets, end, isOwn ? maxUdpSize : query.udpSize, 0, query.question.dnssecOk);
    const whole = this.#writeOptions(optEnd, query, reply, form);
    if (whole > optEnd) this.#view.setUint16(optEnd - 2, whole - optEnd);
    return whole;
  }

  /** @returns where they end */
  #writeOptions(
    at: number,
    { octets, optionsStart, optionsEnd }: RawQuery,
    reply: RawReply,
    form: AnswerForm,
  ): number {
    switch (optionsFrom(form, reply)) {
      case 'none':
        return at;
      case 'query':
        return optionsEnd > optionsStart
          ? copyRepeated(octets, optionsStart, optionsEnd, this.octets, at)
          : at;
      case 'reply': {
        const { octets: from, optionsAt, optionsLength } = reply;
        for (let octet = 0; octet < optionsLength; octet += 1)
          this.octets[at + octet] = from[optionsAt + octet] ?? 0;
        return at + optionsLength;
      }
    }
  }

  /** Whether the response to a query fits the client's UDP size. */
  fits(query: RawQuery, reply: RawReply, form: AnswerForm, maxUdpSize: number): boolean {
    const { questionEnd, hasOpt, udpSize } = query;
    const optOctets = hasOpt ? OPT_OCTETS + measureOptions(query, reply, form) : 0;
    const length = questionEnd + reply.recordsLength + optOctets;
    return length <= maxResponseOctets('udp', udpSize, maxUdpSize);
  }

  /** The flags of the last written answer: the second word of its header. */
  get flags(): number {
    return ((this.octets[2] ?? 0) << 8) | (this.octets[3] ?? 0);
  }

  #writeHead(
    { octets, start, questionEnd, hasOpt, question }: RawQuery,
    reply: RawReply,
    form: AnswerForm,
  ): void {
    const isOwn = form.kind === 'own';
    const flags = isOwn ? 0 : (reply.flags & ~form.flags.clear) | form.flags.set;
    const to = this.octets;
    for (let at = 0; at < questionEnd; at += 1) to[at] = octets[start + at] ?? 0;
    to[2] = isOwn ? FLAG.QR | FLAG.RD : flags >> 8;
    const asked = octets[start + 3] ?? 0;
    const wantsAd = (asked & FLAG.AD) !== 0 || question.dnssecOk;
    const authentic = wantsAd && reply.authenticData ? FLAG.AD : 0;
    const kept = isOwn ? FLAG.RA | (asked & FLAG.CD) : flags & (FLAG.RA | FLAG.CD);
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
   * Bounds the written TTLs, if the answer may be cached.
   *
   * @returns the seconds for which it may be cached, from 1; 0: it must not be cached
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

  /** Rotates the addresses to a random start. */
  #rotate(recordsAt: number, { octets, recordsAt: from, runAt, stride, addresses }: RawReply): void {
    const to = this.octets;
    // The choice does not need a secure random number.
    const skipped = Math.floor(Math.random() * addresses) * stride;
    const length = addresses * stride;
    for (let at = 0; at < length; at += 1)
      to[recordsAt + runAt + at] = octets[from + runAt + ((at + skipped) % length)] ?? 0;
  }

  /** Gives all records one TTL, if answers are cached. @returns the seconds for which the answer may be cached; 0: it must not be cached */
  #unifyTtls(recordsAt: number, reply: RawReply, caching: UniformCaching | undefined): number {
    if (caching === undefined) return 0;
    const { ttlOffsets, answerCount, authorityCount, negativeTtl } = reply;
    const isDenial = authorityCount > 0;
    const { minTtl, maxTtl } = isDenial ? caching.denial : caching.success;
    let least = isDenial && caching.heedsMinimum ? Math.min(maxTtl, negativeTtl) : maxTtl;
    for (let index = 0; index < answerCount + authorityCount; index += 1)
      least = Math.min(least, this.#view.getUint32(recordsAt + (ttlOffsets[index] ?? 0)));
    const ttl = Math.min(Math.max(least, minTtl), maxTtl);
    for (let index = 0; index < answerCount + authorityCount; index += 1)
      this.#view.setUint32(recordsAt + (ttlOffsets[index] ?? 0), ttl);
    return ttl;
  }
}
