/**
 * Asks upstream and returns the answer: the last of all handlers.
 */

import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { RateLimitedWarnings } from '../base/rate-limited-warning.ts';
import type { Answer } from '../chain/answer.ts';
import { ALL_QUESTIONS } from '../chain/match.ts';
import type { Query } from '../chain/query.ts';
import { cacheReply } from '../forward/caching/cached-answer.ts';
import type { CachingRules } from '../forward/caching/caching-rules.ts';
import type { FailureReason, Forwarder, ForwardQuestion, ForwardReply } from '../forward/forwarder.ts';
import type { Message, NameKey, Question } from '../wire/types.ts';
import { type FilteredTypes, hideTypes } from './filtered-types.ts';
import { Latency, type LatencyCounts } from './latency.ts';
import { RESOLVER_OUTCOME } from './outcomes.ts';

/** Changes a reply before it is judged and cached. */
export type ReplyChange = (question: Question, message: Message) => Message;

/** How replies are processed. */
export interface ReplySettings {
  readonly caching: CachingRules;
  /** In this order. */
  readonly changes: readonly ReplyChange[];
  readonly filteredTypes: FilteredTypes;
  /** Whether `changes` leave denials and answers with addresses as they are, except for names that `mayExist`. Default: no. */
  readonly leavesAddresses?: boolean;
  /** Whether a name may exist although upstream denies it. Default: no. */
  readonly mayExist?: (name: NameKey) => boolean;
}

export interface ForwardingCounts {
  readonly latency: LatencyCounts;
  /** Questions that no upstream server answered, by reason. */
  readonly failures: ReadonlyMap<FailureReason, number>;
}

/**
 * Seconds for which a timeout is cached, the minimum of RFC 9520 section 3.2. A client that tries again after 5 s makes us ask
 * the servers again.
 */
const SILENCE_TTL = 1;

/** An answer that is sent. */
type Presented = Exclude<Answer, { kind: 'drop' }>;

export class Forwarding {
  readonly name = 'forward';
  readonly role = 'forwarder';
  readonly questions = ALL_QUESTIONS;
  readonly answers = 'unchanged';
  readonly #forwarder: Pick<Forwarder, 'resolve'>;
  readonly #settings: () => ReplySettings;
  readonly #warnings: RateLimitedWarnings;
  readonly #latency = new Latency();
  readonly #failures = new Map<FailureReason, number>();

  constructor(forwarder: Pick<Forwarder, 'resolve'>, settings: () => ReplySettings, clock: Clock, log: Log) {
    this.#forwarder = forwarder;
    this.#settings = settings;
    this.#warnings = new RateLimitedWarnings(log, clock);
  }

  async handle(query: Query): Promise<Answer> {
    const question = query.questionKey;
    return this.present(question, await this.#forwarder.resolve(question, { address: query.account }));
  }

  /** The answer for clients, and for the cache, from a reply. Counts the reply. */
  present(question: ForwardQuestion, reply: ForwardReply): Presented {
    if (reply.kind === 'failed') return this.#fail(question, reply);
    this.observe(reply.milliseconds);
    return this.#present(question, reply.message);
  }

  /** Counts a reply. */
  observe(milliseconds: number): void {
    this.#latency.observe(milliseconds);
  }

  /** How replies are processed now. */
  get settings(): ReplySettings {
    return this.#settings();
  }

  count(): ForwardingCounts {
    return { latency: this.#latency.count(), failures: this.#failures };
  }

  #present(question: ForwardQuestion, reply: Message): Presented {
    const { caching, changes, filteredTypes } = this.#settings();
    const changed = withoutAd(
      reply,
      changes.reduce((message, change) => change(question, message), reply),
    );
    const hide = (message: Message) => withoutAd(message, hideTypes(question, message, filteredTypes));
    const kept = cacheReply(question, changed, caching, RESOLVER_OUTCOME.answered, hide);
    const { header, answers, authorities, additionals, edns } = kept?.message ?? hide(changed);
    return {
      kind: 'forwarded',
      rcode: header.rcode | ((edns?.extendedRcode ?? 0) << 4),
      authoritative: false,
      truncated: header.truncated,
      authenticData: header.authenticData,
      answers,
      authorities,
      additionals,
      memory: kept && { ...kept.answer, recursionAvailable: true },
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
        this.#warnings.warn('no answer from upstream', { name: question.name, reason, detail });
        return { kind: 'overloaded' };
      case 'timeout':
      case 'network': {
        this.#warnings.warn('no answer from upstream', { name: question.name, reason, detail });
        return { kind: 'servfail', lifetime: Math.min(SILENCE_TTL, this.#settings().caching.failureTtl) };
      }
      case 'down':
      case 'loop':
      case 'stopped':
        return { kind: 'servfail' };
    }
  }
}

/** Clears the AD bit if the message was changed here: no server has validated it so. */
function withoutAd(before: Message, after: Message): Message {
  if (before === after || !after.header.authenticData) return after;
  return { ...after, header: { ...after.header, authenticData: false } };
}
