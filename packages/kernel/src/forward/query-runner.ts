/**
 * Carries out the transitions of `query-state.ts` for one question: sends its queries, judges replies, sets its timers.
 */
import { MAX_PLAIN_RCODE, toFullRcode } from '@portolan/dns/edns.ts';
import { type Edns, type Message, RCODE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { QueuedTimer, type TimerQueue } from '../base/timer-queue.ts';
import type { Candidates } from './candidates.ts';
import type { ForwardTiming, RetryPolicy } from './forward-plan.ts';
import {
  begin,
  nextMove,
  type QueryState,
  type QueryStateEffect,
  type QueryStateEvent,
  type ReplyQuality,
} from './query-state.ts';
import type { QuestionKey } from './question-key.ts';
import type { RetryBudget } from './retry-budget.ts';
import { type QueryMessage, writeQuery } from './transport/query-message.ts';
import { CONNECTION_LOSSES, type ExchangeEvents } from './transport/transport.ts';
import { FORGERY_SUSPECTED } from './transport/udp-transport.ts';
import { isRefusal } from './upstream/refusals.ts';
import type { Attempt, AttemptEvents, Upstream } from './upstream/upstream.ts';

export type QueryRunOutcome =
  /** A raw reply is lent until `done` returns. */
  | { readonly kind: 'reply'; readonly reply: Message; readonly upstream: Upstream }
  /** `network`: no server could be reached; the codes are the network's errors. */
  | { readonly kind: 'failed'; readonly reason: 'timeout' | 'network'; readonly codes: readonly string[] };

/** A query that another thread has sent, and a callback for when this thread takes it over. */
export interface ReaderAttempt {
  readonly upstream: Upstream;
  /** By the clock's monotonic time. */
  readonly askedAt: number;
  readonly onTaken: (exchange: Pick<ExchangeEvents, 'replied' | 'failed'>) => void;
}

export interface QueryRunnerSettings {
  readonly clock: Clock;
  readonly timing: ForwardTiming;
  readonly retry: RetryPolicy;
  readonly hedging: boolean;
  readonly failFast: boolean;
  /** Whether the order of the servers is binding. */
  readonly isOrdered: boolean;
  /** For `timing.deadline`. */
  readonly deadlines: TimerQueue;
  readonly udpSize: number;
  readonly trustsAd: boolean;
  readonly tryNextOn: ReadonlySet<number>;
  /** Called when the budget has allowed another query. */
  readonly onExtraQuery: (purpose: 'retry' | 'hedge') => void;
}

/**
 * Whether EDNS in the query may be the reason for a response code (RFC 6891 section 7). A server that supports EDNS sends OPT in each
 * response (section 6.1.1).
 *
 * @param isKnown whether the server is known to answer queries with EDNS
 */
function isAboutEdns(rcode: number, edns: Edns | undefined, isKnown: boolean): boolean {
  if (rcode > MAX_PLAIN_RCODE) return true;
  switch (rcode) {
    case RCODE.FORMERR:
      // Some repeat the OPT record that they do not understand.
      return edns === undefined || !isKnown;
    case RCODE.NOTIMP:
      return edns === undefined;
    case RCODE.SERVFAIL:
    case RCODE.REFUSED:
      return edns === undefined && !isKnown;
    default:
      return false;
  }
}

/** Failures of HTTP after which the server is asked again in its turn: too many requests, errors of the server, and streams that it resets. */
const LOSS_OF_HTTP = /^HTTP status (?:429|5\d\d)$|^HTTP\/2 stream error /;

function isLoss(code: string): boolean {
  return CONNECTION_LOSSES.has(code) || code === FORGERY_SUSPECTED || LOSS_OF_HTTP.test(code);
}

export class QueryRunner extends QueuedTimer implements AttemptEvents {
  readonly #question: QuestionKey;
  readonly #settings: QueryRunnerSettings;
  readonly #upstreams: readonly Upstream[];
  readonly #budget: RetryBudget;
  readonly #done: (outcome: QueryRunOutcome) => void;
  /** In flight, usually one. */
  readonly #attempts: Attempt[] = [];
  /** Each error of each server, without duplicates, in the order of their last occurrence. */
  readonly #errors = new Set<string>();
  /** Whether the last error was a time-out. */
  #isLastSilent = false;
  readonly #events: QueryStateEvent[] = [];
  #state: QueryState;
  #isMoving = false;
  /** The reply of the current event. */
  #current: Extract<QueryRunOutcome, { readonly kind: 'reply' }> | undefined;
  #kept: Extract<QueryRunOutcome, { readonly kind: 'reply' }> | undefined;
  #timer: Timer | undefined;
  #withEdns: QueryMessage | undefined;

  /**
   * @param done called once, perhaps before `start` returns
   * @param arrivedAt when the question came, by the clock's monotonic time: the deadline counts from there
   */
  constructor(
    question: QuestionKey,
    upstreams: readonly Upstream[],
    budget: RetryBudget,
    settings: QueryRunnerSettings,
    done: (outcome: QueryRunOutcome) => void,
    arrivedAt: number,
  ) {
    super();
    this.#question = question;
    this.#settings = settings;
    this.#upstreams = upstreams;
    this.#budget = budget;
    this.#done = done;
    this.#state = begin(upstreams.length);
    settings.deadlines.set(this, arrivedAt + settings.timing.deadline);
  }

  start({ atOnce }: Pick<Candidates, 'atOnce'>): void {
    this.#handle({ kind: 'start', atOnce });
  }

  /** Continues with a query that another thread has sent. @returns whether its server is one of this question's */
  takeOver({ upstream, askedAt, onTaken }: ReaderAttempt): boolean {
    const server = this.#upstreams.indexOf(upstream);
    if (server < 0) return false;
    // That thread knows of EDNS what we know.
    const query = this.#query(upstream.usesEdns(this.#question.dnssecOk));
    const taken = upstream.takeOver(query, this, askedAt);
    if (taken === undefined) return false;
    this.#attempts.push(taken.attempt);
    this.#handle({ kind: 'taken-over', server, askedAt });
    onTaken(taken.exchange);
    return true;
  }

  /** Call it when a client repeats the question. */
  repeat(): void {
    this.#handle({ kind: 'repeated' });
  }

  /** The deadline has passed. */
  due(): void {
    this.#handle({ kind: 'expired' });
  }

  /** Stops it without an outcome. */
  stop(): void {
    this.#end();
  }

  replied(attempt: Attempt, reply: Message): void {
    this.#remove(attempt);
    const { upstream, isOverdue } = attempt;
    this.#current = { kind: 'reply', reply, upstream };
    const verdict = this.#judge(reply, attempt);
    if (verdict !== 'no-edns') this.#learn(attempt);
    this.#handle({ kind: 'replied', server: this.#upstreams.indexOf(upstream), verdict, isOverdue });
    this.#current = undefined;
  }

  slow({ upstream }: Attempt): void {
    this.#handle({ kind: 'slow', server: this.#upstreams.indexOf(upstream) });
  }

  overdue(attempt: Attempt): void {
    const { upstream, query } = attempt;
    if (this.#settings.retry.trigger === 'failure') {
      this.#remove(attempt);
      attempt.stop();
      this.#noteError(upstream, 'timeout');
      const server = this.#upstreams.indexOf(upstream);
      const hadEdns = query.hasEdns;
      this.#handle({ kind: 'failed', server, failure: 'lost', isOverdue: false, hadEdns });
      return;
    }
    this.#handle({ kind: 'overdue', server: this.#upstreams.indexOf(upstream), hadEdns: query.hasEdns });
  }

  failed(attempt: Attempt, code: string): void {
    this.#remove(attempt);
    const { upstream, isOverdue } = attempt;
    this.#noteError(upstream, code);
    const failure = isRefusal(code) ? 'refused' : isLoss(code) ? 'lost' : 'final';
    this.#handle({ kind: 'failed', server: this.#upstreams.indexOf(upstream), failure, isOverdue });
  }

  #noteError({ text }: Upstream, code: string): void {
    const error = `${text}: ${code}`;
    // The last one comes last.
    this.#errors.delete(error);
    this.#errors.add(error);
    this.#isLastSilent = code === 'timeout';
  }

  /** Events that come while another is being handled (a query may fail at once) are queued. */
  #handle(event: QueryStateEvent): void {
    this.#events.push(event);
    if (this.#isMoving) return;
    this.#isMoving = true;
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      const { clock, retry, hedging, failFast, isOrdered, timing } = this.#settings;
      const { state, effects } = nextMove(this.#state, next, {
        now: clock.monotonic(),
        servers: this.#upstreams,
        dnssecOk: this.#question.dnssecOk,
        retry,
        hedging,
        failFast,
        failover: isOrdered && retry.trigger !== 'failure' ? timing.failover : undefined,
        negativeWait: timing.negativeWait,
      });
      this.#state = state;
      for (const effect of effects) this.#carryOut(effect);
    }
    this.#isMoving = false;
  }

  #carryOut(effect: QueryStateEffect): void {
    switch (effect.kind) {
      case 'ask':
        this.#ask(effect);
        return;
      case 'request': {
        const { server, purpose } = effect;
        const isGranted = this.#budget.take(purpose);
        if (isGranted) this.#settings.onExtraQuery(purpose);
        this.#handle(isGranted ? { kind: 'granted', server } : { kind: 'denied', purpose });
        return;
      }
      case 'wait':
        this.#timer?.cancel();
        this.#timer = this.#settings.clock.after(effect.milliseconds, () => this.#handle({ kind: 'waited' }));
        return;
      case 'keep':
        this.#kept = this.#current;
        return;
      case 'finish':
        this.#finish(effect.outcome);
    }
  }

  #ask({ server, withEdns, timeout }: Extract<QueryStateEffect, { readonly kind: 'ask' }>): void {
    const upstream = this.#upstreams[server];
    if (upstream === undefined) return;
    const query = withEdns ? this.#query(true) : this.#queryWithoutEdns(upstream);
    const attempt = upstream.ask(query, this, timeout);
    if (!attempt.isDone) this.#attempts.push(attempt);
  }

  #query(withEdns: boolean): QueryMessage {
    const { udpSize, trustsAd } = this.#settings;
    const { asReceived } = this.#question;
    if (asReceived !== undefined) return asReceived;
    if (!withEdns) return writeQuery(this.#question, undefined, trustsAd);
    this.#withEdns ??= writeQuery(this.#question, udpSize, trustsAd);
    return this.#withEdns;
  }

  #queryWithoutEdns(upstream: Upstream): QueryMessage {
    const query = this.#query(false);
    const { dnssecOk, name } = this.#question;
    const isFirstChoice =
      !upstream.usesEdns(dnssecOk) &&
      this.#attempts.every((other) => other.upstream !== upstream || !other.query.hasEdns);
    return isFirstChoice || query.hasEdns ? query : { ...query, withoutEdnsFor: name };
  }

  #judge(reply: Message, { query, upstream }: Attempt): ReplyQuality {
    const rcode = toFullRcode(reply);
    const { asReceived, passedOnBy } = this.#question;
    if (asReceived === undefined) {
      if (query.hasEdns && isAboutEdns(rcode, reply.edns, upstream.knowsEdns)) return 'no-edns';
      // Such a code is about the query that we have sent, or makes no sense: no client has asked for it.
      if (rcode > MAX_PLAIN_RCODE) return 'error';
    }
    if (asReceived === undefined && reply.header.truncated)
      return passedOnBy === 'udp' ? 'answer' : 'truncated';
    if (this.#settings.tryNextOn.has(rcode)) return 'error';
    const isNegative = rcode === RCODE.NXDOMAIN || (rcode === RCODE.NOERROR && reply.answers.length === 0);
    return isNegative ? 'negative' : 'answer';
  }

  /** Learns about losses of the server from a reply. */
  #learn({ upstream, askedAt }: Attempt): void {
    // Earlier queries without a reply were lost: a slow server would have answered them first.
    const isLost = (other: Attempt) =>
      other.upstream === upstream && other.isOverdue && other.askedAt < askedAt;
    const lost = this.#attempts.filter(isLost).length;
    if (lost === 0) return;
    upstream.losses.noteLost(lost);
    this.#budget.earnForLosses(lost);
  }

  #remove(attempt: Attempt): void {
    const place = this.#attempts.indexOf(attempt);
    if (place >= 0) this.#attempts.splice(place, 1);
  }

  #finish(outcome: Extract<QueryStateEffect, { readonly kind: 'finish' }>['outcome']): void {
    const reply = outcome === 'reply' ? this.#current : outcome === 'kept' ? this.#kept : undefined;
    this.#end(reply?.upstream);
    if (reply !== undefined) this.#done(reply);
    else
      this.#done({
        kind: 'failed',
        reason: outcome === 'network' && !this.#isLastSilent ? 'network' : 'timeout',
        codes: [...this.#errors],
      });
  }

  /** @param answering the server that has answered, if any */
  #end(answering?: Upstream): void {
    this.#state = { kind: 'done' };
    this.#events.length = 0;
    this.#settings.deadlines.cancel(this);
    this.#timer?.cancel();
    const attempts = this.#attempts.splice(0);
    for (const [index, attempt] of attempts.entries()) {
      const { upstream } = attempt;
      // Several queries of one question show as much as one.
      const isFirst = attempts.findIndex((other) => other.upstream === upstream) === index;
      attempt.release(isFirst && answering !== undefined && upstream !== answering);
    }
  }
}
