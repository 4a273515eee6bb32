/**
 * Makes the response to a client and the cached answer from a raw reply, by copying octets.
 *
 * The records stand behind the question in the reply, in the cache and in every response alike, and the question is equally long
 * in all of them: so pointers lead to the same names.
 */

import type { Clock } from '../../base/clock.ts';
import {
  type CachingRules,
  keepNegative,
  keepPositive,
  keptTtl,
} from '../../forward/caching/caching-rules.ts';
import type { ForwardQuestion } from '../../forward/forwarder.ts';
import type { RawReply } from '../../forward/transport/raw-reply.ts';
import type { TableWriter } from '../../table/writer.ts';
import { HEADER_OCTETS } from '../../wire/header.ts';
import { LOWER_CASE, MAX_NAME_OCTETS } from '../../wire/label.ts';
import { OPT_OCTETS, writeOpt } from '../../wire/query-records.ts';
import { MAX_MESSAGE_OCTETS, maxResponseOctets } from '../../wire/response-size.ts';
import type { WireName } from '../../wire/types.ts';
import type { ReplySettings } from './forwarding.ts';
import { RESOLVER_OUTCOME } from './outcomes.ts';

/** A query that waits, as octets, and what was read of it when it came. */
export interface WaitingQuery {
  readonly octets: Uint8Array;
  readonly start: number;
  /** The first octet behind its question, from `start` on. */
  readonly questionEnd: number;
  readonly question: ForwardQuestion;
  readonly hasOpt: boolean;
  /** What its OPT record says, in octets. */
  readonly udpSize: number;
}

/** In the third and fourth octet. */
const FLAG = { QR: 0x80, RD: 0x01, RA: 0x80, AD: 0x20, CD: 0x10 } as const;

export class RawResponses {
  /** Where responses are written to. */
  readonly octets = new Uint8Array(MAX_MESSAGE_OCTETS);
  readonly #view = new DataView(this.octets.buffer);
  readonly #table: Pick<TableWriter, 'cache'>;
  readonly #clock: Clock;
  readonly #udpSize: number;
  /** The name of the question that is being answered, in lower case. */
  readonly #name = new Uint8Array(MAX_NAME_OCTETS);

  constructor(table: Pick<TableWriter, 'cache'>, clock: Clock, udpSize: number) {
    this.#table = table;
    this.#clock = clock;
    this.#udpSize = udpSize;
  }

  /**
   * Writes the response to a query, and puts it into the cache.
   *
   * @param isCurrent whether what answers are made from is what it was when the query came
   * @returns the octets of the response; 0 if it does not fit, and then nothing was done
   */
  answer(query: WaitingQuery, reply: RawReply, settings: ReplySettings, isCurrent: boolean): number {
    const { questionEnd, hasOpt } = query;
    const end = questionEnd + reply.recordsLength;
    const limit = maxResponseOctets('udp', query.udpSize, this.#udpSize);
    if (end + (hasOpt ? OPT_OCTETS : 0) > limit) return 0;
    this.#writeHead(query, reply);
    this.#writeRecords(questionEnd, reply);
    const lifetime = this.#boundTtls(questionEnd, reply, settings.caching);
    if (lifetime >= 1 && isCurrent)
      this.#keep(query, this.octets.subarray(questionEnd, end), reply, lifetime);
    return hasOpt ? writeOpt(this.octets, end, this.#udpSize, 0, query.question.dnssecOk) : end;
  }

  #writeHead({ octets, start, questionEnd, hasOpt, question }: WaitingQuery, reply: RawReply): void {
    const to = this.octets;
    for (let at = 0; at < questionEnd; at += 1) to[at] = octets[start + at] ?? 0;
    to[2] = FLAG.QR | FLAG.RD;
    const asked = octets[start + 3] ?? 0;
    const wantsAd = (asked & FLAG.AD) !== 0 || question.dnssecOk;
    const authentic = wantsAd && reply.authenticData ? FLAG.AD : 0;
    to[3] = FLAG.RA | (asked & FLAG.CD) | authentic | reply.rcode;
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

  #keep(query: WaitingQuery, bytes: Uint8Array, reply: RawReply, lifetime: number): void {
    const { type, class: dnsClass, dnssecOk, checkingDisabled } = query.question;
    const { rcode, answerCount, authorityCount, addresses, runAt, stride, ttlOffsets } = reply;
    const offsets: number[] = [];
    for (let index = 0; index < answerCount + authorityCount; index += 1)
      offsets.push(ttlOffsets[index] ?? 0);
    this.#table.cache(
      {
        name: this.#nameOf(query),
        type,
        class: dnsClass,
        dnssecOk,
        checkingDisabled,
        recursionAvailable: true,
        body: {
          rcode,
          authoritative: false,
          authenticData: reply.authenticData,
          answerCount,
          authorityCount,
          additionalCount: 0,
          bytes,
          rotation: addresses > 1 ? { start: runAt, stride, count: addresses } : undefined,
        },
        ttlOffsets: offsets,
        lifetime,
        outcome: RESOLVER_OUTCOME.answered,
      },
      this.#clock.monotonic(),
    );
  }

  #nameOf({ octets, start, questionEnd }: WaitingQuery): WireName {
    const length = questionEnd - HEADER_OCTETS - 4;
    for (let at = 0; at < length; at += 1)
      this.#name[at] = LOWER_CASE[octets[start + HEADER_OCTETS + at] ?? 0] ?? 0;
    // It was a name when the query was read.
    return this.#name.subarray(0, length) as WireName;
  }
}
