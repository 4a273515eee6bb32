/**
 * Replies as clients of our own front ends get them: changed and judged before clients and the cache get them, with our own flags.
 */
import { toFullRcode } from '@portolan/dns/edns.ts';
import { EXTENDED_ERROR, readPassedErrors } from '@portolan/dns/extended-error.ts';
import { ROOT } from '@portolan/dns/name.ts';
import type { Message } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { ReplyChanges } from '@portolan/kernel/chain/handler.ts';
import { RESOLVER_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { cacheReply } from '@portolan/kernel/forward/caching/cached-answer.ts';
import {
  extendedErrorOfFailure,
  type FailureReason,
  type ForwardFailure,
} from '@portolan/kernel/forward/forward-reply.ts';
import type { ForwardQuestion, ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import type { CachedAnswer } from '@portolan/kernel/table/types.ts';
import type { NativeCache } from '../cache/native-cache.ts';
import { listChangedDomains } from './changed-domains.ts';
import { type FilteredTypes, hideTypes } from './filtered-types.ts';
import type { ForwardRoute } from './options.ts';
import type { RouteReplies } from './route-replies.ts';
import { sharedAnswer, UncachedQuestions } from './uncached-questions.ts';

export interface NativeRepliesOptions {
  readonly rules: ForwardRoute['plan']['rules'];
  readonly filteredTypes: FilteredTypes;
  /** The cache before it. */
  readonly cache: NativeCache;
  /** What other handlers of the block do to replies; undefined: nothing. */
  readonly replies: () => ReplyChanges | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Seconds for which a timeout is cached, the minimum of RFC 9520 section 3.2. A client that tries again after 5 s makes us ask
 * the servers again.
 */
const SILENCE_TTL = 1;

const NO_CHANGES: ReplyChanges['changes'] = [];

export class NativeReplies implements RouteReplies {
  readonly direct: RouteReplies['direct'];
  readonly #options: NativeRepliesOptions;
  readonly #warnings: RateLimitedWarnings;
  readonly #passedOn: UncachedQuestions;
  #filteredTypes: FilteredTypes;

  constructor(options: NativeRepliesOptions) {
    const { filteredTypes, replies, clock, log } = options;
    this.#options = options;
    this.#filteredTypes = filteredTypes;
    this.#warnings = new RateLimitedWarnings(log, clock);
    this.#passedOn = new UncachedQuestions(clock);
    this.direct = {
      isUsable: () => this.#leavesPlainReplies(),
      believesDenials: () => replies()?.mayKnowNames() !== true,
    };
  }

  begin({ forwarder }: Parameters<RouteReplies['begin']>[0]): void {
    this.#options.cache.waited = (question) => forwarder.tried.waited(question);
  }

  /** Drops the cached answers that the change affects. Answers on their way are not cached. */
  follow(before: RouteReplies): void {
    if (!(before instanceof NativeReplies)) return;
    this.#filteredTypes = before.#filteredTypes;
    const { cache, rules, replies } = this.#options;
    cache.noteChange();
    const former = before.#options;
    const isSame = (former.replies()?.changes ?? NO_CHANGES) === (replies()?.changes ?? NO_CHANGES);
    const domains = isSame ? listChangedDomains(former.rules, rules) : [ROOT];
    for (const domain of domains) cache.forget(domain);
  }

  toForwardQuestion(query: Query): ForwardQuestion {
    if (this.#isCached(query.question.type)) return query.questionKey;
    return this.#passedOn.toUncachedQuestion(query, this.#options.cache.rules.sharesLargeAnswers === true);
  }

  toAnswer(query: Query, question: ForwardQuestion, reply: ForwardReply): Answer {
    if (reply.kind === 'failed') return this.#fail(question, reply);
    const answer = this.#present(question, reply.message);
    if (question.passedOnBy === 'udp' && reply.message.header.truncated)
      this.#passedOn.noteTruncated({ ...question, name: query.key });
    return answer;
  }

  answerLook(found: ForwardFailure | undefined): Answer {
    return found === undefined ? { kind: 'servfail' } : answerOfFailure(found);
  }

  #isCached(type: number): boolean {
    return this.#options.cache.rules.cachedTypes?.has(type) !== false;
  }

  /** The answer for clients, and for the cache. */
  #present(question: ForwardQuestion, reply: Message): Answer {
    const { cache, replies } = this.#options;
    const { changes = NO_CHANGES } = replies() ?? {};
    const changed = withoutAd(
      reply,
      changes.reduce((message, change) => change(question, message), reply),
    );
    const hide = (message: Message) => withoutAd(message, hideTypes(question, message, this.#filteredTypes));
    const kept = cacheReply(question, changed, cache.rules.caching, RESOLVER_OUTCOME.answered, hide);
    const message = kept?.message ?? hide(changed);
    const { header, answers, authorities, additionals, edns } = message;
    return {
      kind: 'forwarded',
      rcode: toFullRcode(message),
      authoritative: false,
      truncated: header.truncated,
      authenticData: header.authenticData,
      answers,
      authorities,
      additionals,
      passedErrors: kept === undefined ? readPassedErrors(edns) : kept.answer.passedErrors,
      memory: kept && this.#toStoredAnswer(question.type, { ...kept.answer, recursionAvailable: true }),
    };
  }

  #toStoredAnswer(type: number, answer: CachedAnswer): CachedAnswer | undefined {
    if (this.#isCached(type)) return answer;
    return this.#options.cache.rules.sharesLargeAnswers === true ? sharedAnswer(answer) : undefined;
  }

  #fail(question: ForwardQuestion, failure: ForwardFailure): Answer {
    const { reason, detail } = failure;
    const answer = answerOfFailure(failure);
    if (!WARNED.has(reason)) return answer;
    this.#warnings.warn('no answer from upstream', { name: question.name, reason, detail });
    if (answer.kind !== 'servfail') return answer;
    return { ...answer, lifetime: Math.min(SILENCE_TTL, this.#options.cache.rules.caching.failureTtl) };
  }

  /** Whether clients get addresses as servers send them, except for the bounds of the cache. */
  #leavesPlainReplies(): boolean {
    const replies = this.#options.replies();
    if (replies?.knowsItsNames() === false) return false;
    return replies?.leavesAddresses !== false && this.#filteredTypes.size === 0;
  }
}

/** Failures of servers, in place of those of the configuration. */
const WARNED: ReadonlySet<FailureReason> = new Set(['overloaded', 'timeout', 'network', 'unusable']);

function answerOfFailure({ reason }: ForwardFailure): Answer {
  switch (reason) {
    case 'local-only':
      return { kind: 'nxdomain', aliases: [], soa: undefined, authoritative: false };
    case 'no-upstream':
      return { kind: 'refused', extendedError: EXTENDED_ERROR.NOT_AUTHORITATIVE };
    case 'overloaded':
      return { kind: 'overloaded' };
    default: {
      const extendedError = extendedErrorOfFailure(reason);
      return { kind: 'servfail', ...(extendedError !== undefined && { extendedError }) };
    }
  }
}

/** Clears the AD bit if the message was changed here: no server has validated it so. */
function withoutAd(before: Message, after: Message): Message {
  if (before === after || !after.header.authenticData) return after;
  return { ...after, header: { ...after.header, authenticData: false } };
}
