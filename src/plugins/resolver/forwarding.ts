/**
 * Asks upstream and returns the answer: the last of all handlers.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { RateLimitedWarnings } from '../../base/rate-limited-warning.ts';
import type { Answer } from '../../chain/answer.ts';
import { type Look, openQuestionOf } from '../../chain/look.ts';
import { ALL_QUESTIONS } from '../../chain/match.ts';
import type { Query } from '../../chain/query.ts';
import { cacheReply } from '../../forward/caching/cached-answer.ts';
import { extendedErrorOfFailure, type FailureReason } from '../../forward/forward-reply.ts';
import type { ForwardTally } from '../../forward/forward-tally.ts';
import type { Forwarder, ForwardQuestion, ForwardReply } from '../../forward/forwarder.ts';
import type { CachedAnswer } from '../../table/types.ts';
import { EXTENDED_ERROR, passedErrorsOf } from '../../wire/extended-error.ts';
import type { Message, NameKey, Question } from '../../wire/types.ts';
import { RESOLVER_OUTCOME } from '../cache/outcomes.ts';
import type { OwnAnswers } from '../cache/own-answers.ts';
import { type FilteredTypes, hideTypes } from './filtered-types.ts';
import { PassedOn, sharedAnswer } from './passed-on.ts';

/** Changes a reply before it is judged and cached. */
export type ReplyChange = (question: Question, message: Message) => Message;

/** How replies are processed. */
export interface ReplySettings {
  /** In this order. */
  readonly changes: readonly ReplyChange[];
  readonly filteredTypes: FilteredTypes;
  /** Whether `changes` leave denials and answers with addresses as they are, except for names that `mayExist`. Default: no. */
  readonly leavesAddresses?: boolean;
  /** Whether a name may exist although upstream denies it. Default: no. */
  readonly mayExist?: (name: NameKey) => boolean;
}

export interface ForwardingOptions {
  /** May change. */
  readonly settings: () => ReplySettings;
  /** The cache before it. */
  readonly cache: Pick<OwnAnswers, 'rules'>;
  /** Counts replies and failures. */
  readonly tally: ForwardTally;
  readonly clock: Clock;
  readonly log: Log;
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
  readonly #forwarder: Pick<Forwarder, 'resolve' | 'serversFor'>;
  readonly #settings: () => ReplySettings;
  readonly #cache: ForwardingOptions['cache'];
  readonly #warnings: RateLimitedWarnings;
  readonly #tally: ForwardTally;
  readonly #passedOn: PassedOn;

  constructor(
    forwarder: Pick<Forwarder, 'resolve' | 'serversFor'>,
    { settings, cache, tally, clock, log }: ForwardingOptions,
  ) {
    this.#forwarder = forwarder;
    this.#settings = settings;
    this.#cache = cache;
    this.#tally = tally;
    this.#warnings = new RateLimitedWarnings(log, clock);
    this.#passedOn = new PassedOn(clock);
  }

  async handle(query: Query): Promise<Answer> {
    if (query.look !== undefined) return this.#look(query.key, query.look);
    const question = this.#isCached(query.question.type)
      ? query.questionKey
      : this.#passedOn.questionOf(query, this.#cache.rules.sharesLargeAnswers === true);
    const reply = await this.#forwarder.resolve(question, { address: query.account });
    const answer = this.present(question, reply);
    if (question.passedOnBy === 'udp' && isTruncated(answer)) this.#passedOn.noteTruncated(question);
    return answer;
  }

  #isCached(type: number): boolean {
    return this.#cache.rules.cachedTypes?.has(type) !== false;
  }

  #look(name: NameKey, look: Look): Presented {
    const found = this.#forwarder.serversFor(name);
    look.wouldAsk(openQuestionOf(name, found));
    return found.kind === 'failed' ? answerOfFailure(found.reason) : { kind: 'servfail' };
  }

  /** The answer for clients, and for the cache, from a reply. Counts the reply. */
  present(question: ForwardQuestion, reply: ForwardReply): Presented {
    if (reply.kind === 'failed') return this.#fail(question, reply);
    this.observe(reply.milliseconds);
    return this.#present(question, reply.message);
  }

  /** Counts a reply. */
  observe(milliseconds: number): void {
    this.#tally.observe(milliseconds);
  }

  /** How replies are processed now. */
  get settings(): ReplySettings {
    return this.#settings();
  }

  #present(question: ForwardQuestion, reply: Message): Presented {
    const { changes, filteredTypes } = this.#settings();
    const { caching } = this.#cache.rules;
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
      passedErrors: kept === undefined ? passedErrorsOf(edns) : kept.answer.passedErrors,
      memory: kept && this.#memoryOf(question.type, { ...kept.answer, recursionAvailable: true }),
    };
  }

  #memoryOf(type: number, answer: CachedAnswer): CachedAnswer | undefined {
    if (this.#isCached(type)) return answer;
    return this.#cache.rules.sharesLargeAnswers === true ? sharedAnswer(answer) : undefined;
  }

  #fail(question: ForwardQuestion, { reason, detail }: Extract<ForwardReply, { kind: 'failed' }>): Presented {
    this.#tally.noteFailure(reason);
    const answer = answerOfFailure(reason);
    if (reason !== 'overloaded' && reason !== 'timeout' && reason !== 'network') return answer;
    this.#warnings.warn('no answer from upstream', { name: question.name, reason, detail });
    if (answer.kind !== 'servfail') return answer;
    return { ...answer, lifetime: Math.min(SILENCE_TTL, this.#cache.rules.caching.failureTtl) };
  }
}

function isTruncated(answer: Answer): boolean {
  return answer.kind === 'forwarded' && answer.truncated;
}

function answerOfFailure(reason: FailureReason): Presented {
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
