/**
 * Makes cached answers from replies that readers have sent to their clients, by copying octets.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE, MAX_NAME_OCTETS } from '@portolan/dns/label.ts';
import { MAX_UDP_SIZE } from '@portolan/dns/response-size.ts';
import type { WireName } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { RESOLVER_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import type { AnswerForm } from '@portolan/kernel/forward/caching/answer-form.ts';
import type { CachingRules } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { RawAnswer, type RawQuery } from '@portolan/kernel/forward/caching/raw-answer.ts';
import type { ForwardQuestion } from '@portolan/kernel/forward/forwarder.ts';
import { questionOfFill } from '@portolan/kernel/forward/reader-path/fill-question.ts';
import type { FillConsumer } from '@portolan/kernel/forward/reader-path/fill-ring.ts';
import { RawReply } from '@portolan/kernel/forward/transport/raw-reply.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';

/** The query of a reader, in wire form. */
interface WaitingQuery extends RawQuery {
  readonly question: Omit<ForwardQuestion, 'name'>;
}

type ReplyStore = Pick<TableWriter, 'cache' | 'dropCached'>;

export class ForwardedReplies {
  readonly #answer = new RawAnswer();
  readonly #table: ReplyStore;
  readonly #clock: Clock;
  /** Of a fill. */
  readonly #reply = new RawReply();
  #form: Extract<AnswerForm, { kind: 'own' }> | undefined;
  /** The name of the question that is being answered, in lower case. */
  readonly #name = new Uint8Array(MAX_NAME_OCTETS);

  constructor(table: ReplyStore, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  /** Caches a reply in place of an older one. */
  keep(fill: FillConsumer, caching: CachingRules, trustsAd: boolean): void {
    const { octets, start, length, questionEnd } = fill;
    const question = questionOfFill(fill);
    const { type, class: dnsClass, dnssecOk, checkingDisabled } = question;
    const reply = this.#reply;
    if (!reply.read(octets, start, length, questionEnd, type, dnsClass)) return;
    reply.authenticData &&= trustsAd;
    const asked = { octets, start, questionEnd, question, hasOpt: false, udpSize: MAX_UDP_SIZE };
    const query = { ...asked, optionsStart: 0, optionsEnd: 0 };
    const isWritten = this.#answer.write(query, reply, this.#toAnswerForm(caching), MAX_UDP_SIZE) > 0;
    if (isWritten && this.#store(query, reply)) return;
    // Any new answer makes the older one invalid (RFC 8767 section 4).
    this.#table.dropCached({
      name: this.#readName(query),
      type,
      class: dnsClass,
      dnssecOk,
      checkingDisabled,
    });
  }

  /** Kept between calls, as it is the same for most replies. */
  #toAnswerForm(caching: CachingRules): AnswerForm {
    if (this.#form?.caching !== caching) this.#form = { kind: 'own', caching };
    return this.#form;
  }

  #store(query: WaitingQuery, reply: RawReply): boolean {
    const { lifetime, octets } = this.#answer;
    if (lifetime < 1) return false;
    const bytes = octets.subarray(query.questionEnd, query.questionEnd + reply.recordsLength);
    const { type, class: dnsClass, dnssecOk, checkingDisabled } = query.question;
    const { rcode, answerCount, authorityCount, addresses, runAt, stride, ttlOffsets } = reply;
    const offsets: number[] = [];
    for (let index = 0; index < answerCount + authorityCount; index += 1)
      offsets.push(ttlOffsets[index] ?? 0);
    return this.#table.cache(
      {
        name: this.#readName(query),
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

  #readName({ octets, start, questionEnd }: WaitingQuery): WireName {
    const length = questionEnd - HEADER_OCTETS - 4;
    for (let at = 0; at < length; at += 1)
      this.#name[at] = LOWER_CASE[octets[start + HEADER_OCTETS + at] ?? 0] ?? 0;
    // Reading the query has checked the name.
    return this.#name.subarray(0, length) as WireName;
  }
}
