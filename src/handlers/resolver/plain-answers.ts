/**
 * What is made of a plain reply: a cached answer, and responses to those who asked. Octets are copied, nothing is taken apart.
 *
 * The records stand behind the question in the reply, in the cache and in every response alike, and their owners are pointers to
 * the question's name, which is at the same place in all of them.
 */
import { type CachingRules, clampTtl } from '../../forward/caching/caching-rules.ts';
import type { PlainReply } from '../../forward/transport/plain-reply.ts';
import type { Clock } from '../../ground/clock.ts';
import { QuestionReader } from '../../table/question.ts';
import type { TableWriter } from '../../table/writer.ts';
import { MIN_MESSAGE_LIMIT } from '../../wire/message.ts';
import { RCODE, TYPE } from '../../wire/types.ts';
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
const TTL_AT = 6;
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
    const end = recordsAt + reply.count * reply.stride;
    if (end + (question.hasOpt ? OPT_OCTETS : 0) > this.#limit()) return 0;
    this.#writeHead(query, recordsAt, reply.count);
    this.#writeRecords(recordsAt, reply);
    const lifetime = clampTtl(reply.leastTtl, terms.caching);
    if (lifetime >= 1) {
      this.#clampTtls(recordsAt, end, reply.stride, terms.caching);
      if (isCurrent) this.#keep(this.octets.subarray(recordsAt, end), reply, lifetime, terms);
    }
    return question.hasOpt ? this.#writeOpt(end) : end;
  }

  /** As `udpLimit` has it. */
  #limit(): number {
    const { hasOpt, udpSize } = this.#question;
    return hasOpt ? Math.max(MIN_MESSAGE_LIMIT, Math.min(udpSize, this.#udpSize)) : MIN_MESSAGE_LIMIT;
  }

  #writeHead({ octets, start }: KeptQuery, recordsAt: number, count: number): void {
    const to = this.octets;
    for (let at = 0; at < recordsAt; at += 1) to[at] = octets[start + at] ?? 0;
    to[2] = FLAG.QR | FLAG.RD;
    to[3] = FLAG.RA | ((octets[start + 3] ?? 0) & FLAG.CD);
    to[6] = count >> 8;
    to[7] = count;
    to[11] = this.#question.hasOpt ? 1 : 0;
  }

  #writeRecords(recordsAt: number, { octets, recordsAt: from, count, stride }: PlainReply): void {
    const to = this.octets;
    for (let at = 0, length = count * stride; at < length; at += 1)
      to[recordsAt + at] = octets[from + at] ?? 0;
  }

  #clampTtls(recordsAt: number, end: number, stride: number, rules: CachingRules): void {
    for (let at = recordsAt + TTL_AT; at < end; at += stride) {
      const ttl = this.#view.getUint32(at);
      const clamped = clampTtl(ttl, rules);
      if (clamped !== ttl) this.#view.setUint32(at, clamped);
    }
  }

  #keep(
    bytes: Uint8Array,
    { count, stride }: PlainReply,
    lifetime: number,
    { keepsOrder }: ReplyTerms,
  ): void {
    const { type, dnsClass, dnssecOk, checkingDisabled } = this.#question;
    const mayRotate = count > 1 && keepsOrder !== true;
    this.#table.cache(
      {
        name: this.#question.wireName(),
        type,
        class: dnsClass,
        dnssecOk,
        checkingDisabled,
        recursionAvailable: true,
        body: {
          rcode: RCODE.NOERROR,
          authoritative: false,
          answerCount: count,
          authorityCount: 0,
          additionalCount: 0,
          bytes,
          rotation: mayRotate ? { start: 0, stride, count } : undefined,
        },
        ttlOffsets:
          count === 1 ? ONE_TTL : Array.from({ length: count }, (_, index) => index * stride + TTL_AT),
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

const ONE_TTL: readonly number[] = [TTL_AT];
