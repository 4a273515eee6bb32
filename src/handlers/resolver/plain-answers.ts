/**
 * What is made of a plain reply: a cached answer, and responses to those who asked. Octets are copied, nothing is taken apart.
 *
 * The records stand behind the question in the reply, in the cache and in every response alike, and the question is equally long
 * in all of them: so pointers lead to the same names.
 */
import { boundNegative, type CachingRules, clampTtl } from '../../forward/caching/caching-rules.ts';
import type { PlainReply } from '../../forward/transport/plain-reply.ts';
import type { Clock } from '../../ground/clock.ts';
import { QuestionReader } from '../../table/question.ts';
import type { TableWriter } from '../../table/writer.ts';
import { MIN_MESSAGE_LIMIT } from '../../wire/message.ts';
import { TYPE } from '../../wire/types.ts';
import type { ReplyTerms } from './forwarding.ts';
import { RESOLVER_METRICS_ID } from './metrics-ids.ts';

/** A query that is kept as octets. */
interface KeptQuery {
  readonly octets: Uint8Array;
  readonly view: DataView;
  readonly start: number;
  readonly length: number;
}

const OPT_OCTETS = 11;
const MOST_OCTETS = 65_535;
/** In the third and fourth octet. */
const FLAG = { QR: 0x80, RD: 0x01, RA: 0x80, CD: 0x10 } as const;

export class PlainAnswers {
  /** Where responses are written to. */
  readonly octets = new Uint8Array(MOST_OCTETS);
  readonly #view = new DataView(this.octets.buffer);
  readonly #table: Pick<TableWriter, 'cache'>;
  readonly #clock: Clock;
  readonly #udpSize: number;
  readonly #question = new QuestionReader(0);

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
  answer(query: KeptQuery, reply: PlainReply, terms: ReplyTerms, isCurrent: boolean): number {
    const question = this.#question;
    question.parse(query.octets, query.view, query.start, query.length);
    const recordsAt = question.end - query.start;
    const end = recordsAt + reply.recordsLength;
    if (end + (question.hasOpt ? OPT_OCTETS : 0) > this.#limit()) return 0;
    this.#writeHead(query, recordsAt, reply);
    this.#writeRecords(recordsAt, reply);
    const lifetime = this.#boundTtls(recordsAt, reply, terms.caching);
    if (lifetime >= 1 && isCurrent) this.#keep(this.octets.subarray(recordsAt, end), reply, lifetime, terms);
    return question.hasOpt ? this.#writeOpt(end) : end;
  }

  /** As `udpLimit` has it. */
  #limit(): number {
    const { hasOpt, udpSize } = this.#question;
    return hasOpt ? Math.max(MIN_MESSAGE_LIMIT, Math.min(udpSize, this.#udpSize)) : MIN_MESSAGE_LIMIT;
  }

  #writeHead({ octets, start }: KeptQuery, recordsAt: number, reply: PlainReply): void {
    const to = this.octets;
    for (let at = 0; at < recordsAt; at += 1) to[at] = octets[start + at] ?? 0;
    to[2] = FLAG.QR | FLAG.RD;
    to[3] = FLAG.RA | ((octets[start + 3] ?? 0) & FLAG.CD) | reply.rcode;
    to[7] = reply.answerCount;
    to[9] = reply.authorityCount;
    to[11] = this.#question.hasOpt ? 1 : 0;
  }

  #writeRecords(recordsAt: number, { octets, recordsAt: from, recordsLength }: PlainReply): void {
    const to = this.octets;
    for (let at = 0; at < recordsLength; at += 1) to[recordsAt + at] = octets[from + at] ?? 0;
  }

  /**
   * Brings the TTLs that were written within their bounds, where the answer may be kept; as `keepReply` does.
   *
   * @returns the seconds that it may be kept, from 1; below, it must not be
   */
  #boundTtls(recordsAt: number, reply: PlainReply, rules: CachingRules): number {
    const { ttlOffsets, answerCount, authorityCount, denialTtl } = reply;
    const isDenial = authorityCount > 0;
    if (isDenial && (!rules.negativeCaching || denialTtl === 0)) return 0;
    let lifetime = isDenial ? boundNegative(denialTtl, rules) : Number.POSITIVE_INFINITY;
    for (let index = 0; index < answerCount; index += 1) {
      const ttl = this.#view.getUint32(recordsAt + (ttlOffsets[index] ?? 0));
      lifetime = Math.min(lifetime, clampTtl(ttl, rules));
    }
    lifetime = Math.floor(lifetime);
    if (lifetime < 1) return 0;
    const most = isDenial ? lifetime : Number.POSITIVE_INFINITY;
    for (let index = 0; index < answerCount + authorityCount; index += 1) {
      const at = recordsAt + (ttlOffsets[index] ?? 0);
      const ttl = this.#view.getUint32(at);
      const bounded = Math.min(clampTtl(ttl, rules), most);
      if (bounded !== ttl) this.#view.setUint32(at, bounded);
    }
    return lifetime;
  }

  #keep(bytes: Uint8Array, reply: PlainReply, lifetime: number, { keepsOrder }: ReplyTerms): void {
    const { type, dnsClass, dnssecOk, checkingDisabled } = this.#question;
    const { rcode, answerCount, authorityCount, addresses, runAt, stride, ttlOffsets } = reply;
    const mayRotate = addresses > 1 && keepsOrder !== true;
    const offsets: number[] = [];
    for (let index = 0; index < answerCount + authorityCount; index += 1)
      offsets.push(ttlOffsets[index] ?? 0);
    this.#table.cache(
      {
        name: this.#question.wireName(),
        type,
        class: dnsClass,
        dnssecOk,
        checkingDisabled,
        recursionAvailable: true,
        body: {
          rcode,
          authoritative: false,
          answerCount,
          authorityCount,
          additionalCount: 0,
          bytes,
          rotation: mayRotate ? { start: runAt, stride, count: addresses } : undefined,
        },
        ttlOffsets: offsets,
        lifetime,
        metricsId: RESOLVER_METRICS_ID.answered,
      },
      this.#clock.now(),
    );
  }

  #writeOpt(at: number): number {
    const to = this.octets;
    to.fill(0, at, at + OPT_OCTETS);
    to[at + 2] = TYPE.OPT;
    to[at + 3] = this.#udpSize >> 8;
    to[at + 4] = this.#udpSize;
    if (this.#question.dnssecOk) to[at + 7] = 0x80;
    return at + OPT_OCTETS;
  }
}
