/**
 * Asks upstream, and says what was answered: the last of all handlers.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Query } from '../../chain/query.ts';
import { createSparingWarning } from '../../chain/sparing-warning.ts';
import { keepReply } from '../../forward/caching/cached-answer.ts';
import type { CachingRules } from '../../forward/caching/caching-rules.ts';
import type { FailureReason, Forwarder, ForwardQuestion, ForwardReply } from '../../forward/forwarder.ts';
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import type { CachedAnswer } from '../../table/types.ts';
import type { Message, NameKey, Question } from '../../wire/types.ts';
import { type HiddenTypes, hideTypes } from './hidden-types.ts';
import { Latency, type LatencyCounts } from './latency.ts';
import { RESOLVER_METRICS_ID } from './metrics-ids.ts';

/** Makes another message of a reply, before it is judged and kept. */
export type ReplyChange = (question: Question, message: Message) => Message;

/** What is done to replies. */
export interface ReplyTerms {
  readonly caching: CachingRules;
  /** In this order. */
  readonly changes: readonly ReplyChange[];
  readonly hiddenTypes: HiddenTypes;
  /** Whether several addresses are told in the order in which they came. Default: in any order. */
  readonly keepsOrder?: boolean;
  /** Whether `changes` leave answers with addresses and denials alone, but for names that `mayExist`. Default: no. */
  readonly leavesAddresses?: boolean;
  /** Whether it may be wrong that there is no such name. Default: it is not. */
  readonly mayExist?: (name: NameKey) => boolean;
}

export interface ForwardingCounts {
  readonly latency: LatencyCounts;
  /** Questions that nobody upstream answered, by reason. */
  readonly failures: ReadonlyMap<FailureReason, number>;
}

/**
 * Seconds for which silence is believed, the least that RFC 9520 section 3.2 allows: a client that tries again after its
 * 5 s finds the servers asked anew.
 */
const SILENCE_TTL = 1;

/** An answer that is to be told. */
type Presented = Exclude<Answer, { kind: 'drop' }>;

export class Forwarding {
  readonly #forwarder: Pick<Forwarder, 'resolve'>;
  readonly #terms: () => ReplyTerms;
  readonly #warn: ReturnType<typeof createSparingWarning>;
  readonly #latency = new Latency();
  readonly #failures = new Map<FailureReason, number>();

  constructor(forwarder: Pick<Forwarder, 'resolve'>, terms: () => ReplyTerms, clock: Clock, log: Log) {
    this.#forwarder = forwarder;
    this.#terms = terms;
    this.#warn = createSparingWarning(log, clock, 'no answer from upstream');
  }

  async answer(query: Query): Promise<Answer> {
    const question = toForwardQuestion(query);
    return this.present(question, await this.#forwarder.resolve(question, { address: query.account }));
  }

  /** What clients are told of a reply, and what is remembered. Counts it. */
  present(question: ForwardQuestion, reply: ForwardReply): Presented {
    if (reply.kind === 'failed') return this.#fail(question, reply);
    this.observe(reply.milliseconds);
    return this.#present(question, reply.message);
  }

  /** Counts a reply. */
  observe(milliseconds: number): void {
    this.#latency.observe(milliseconds);
  }

  /** What is done to replies now. */
  get terms(): ReplyTerms {
    return this.#terms();
  }

  count(): ForwardingCounts {
    return { latency: this.#latency.count(), failures: this.#failures };
  }

  #present(question: ForwardQuestion, reply: Message): Presented {
    const { caching, changes, hiddenTypes, keepsOrder = false } = this.#terms();
    const changed = changes.reduce((message, change) => change(question, message), reply);
    const hide = (message: Message) => hideTypes(question, message, hiddenTypes);
    const kept = keepReply(question, changed, caching, RESOLVER_METRICS_ID.answered, hide);
    const { header, answers, authorities, additionals, edns } = kept?.message ?? hide(changed);
    return {
      kind: 'forwarded',
      rcode: header.rcode | ((edns?.extendedRcode ?? 0) << 4),
      authoritative: false,
      truncated: header.truncated,
      answers,
      authorities,
      additionals,
      memory: kept && finish(kept.answer, keepsOrder),
    };
  }

  #fail(question: ForwardQuestion, { reason, detail }: Extract<ForwardReply, { kind: 'failed' }>): Presented {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
    switch (reason) {
      case 'local-only':
        return { kind: 'nxdomain', aliases: [], soa: undefined, authoritative: false };
      case 'no-upstream':
        return { kind: 'refused' };
      case 'overloaded':
        this.#warn({ name: question.name, reason, detail });
        return { kind: 'overloaded' };
      case 'timeout':
      case 'network': {
        this.#warn({ name: question.name, reason, detail });
        return { kind: 'servfail', lifetime: Math.min(SILENCE_TTL, this.#terms().caching.failureTtl) };
      }
      case 'loop':
      case 'stopped':
        return { kind: 'servfail' };
    }
  }
}

/** What clients see is whether we recurse for them, and we do. */
function finish(answer: CachedAnswer, keepsOrder: boolean): CachedAnswer {
  const { body } = answer;
  const isFixed = keepsOrder && body.rotation !== undefined;
  return { ...answer, recursionAvailable: true, body: isFixed ? { ...body, rotation: undefined } : body };
}

function toForwardQuestion({
  key,
  question,
  edns,
  checkingDisabled,
  recursionDesired,
}: Query): ForwardQuestion {
  const { type, class: dnsClass } = question;
  const dnssecOk = edns?.dnssecOk ?? false;
  return { name: key, type, class: dnsClass, dnssecOk, checkingDisabled, recursionDesired };
}
