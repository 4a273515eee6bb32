/**
 * One question on its way through the servers of its group, until one gives a good answer or time is up.
 *
 * The next server is asked when one is overdue, fails, or answers with a response code that says so; with hedging, also when
 * one is slower than usual. All that were asked stay welcome to answer: the first good reply counts. When every server was
 * asked, those that have only been silent are asked again, so that a lost packet costs one patience and not the answer.
 */
import type { Clock, Timer } from '../ground/clock.ts';
import { type Message, RCODE } from '../wire/types.ts';
import { type Candidates, isDown } from './candidates.ts';
import { DueEntry, type DueLine } from './due-line.ts';
import type { ForwardTiming } from './plan.ts';
import { keepMessage, PlainReply } from './transport/plain-reply.ts';
import { type ForwardQuestion, type QueryMessage, writeQuery } from './transport/query-message.ts';
import type { Attempt, AttemptEvents, Upstream } from './upstream/upstream.ts';

export type ResolutionOutcome =
  /** The message is perhaps a `PlainReply`, lent until `done` returns. */
  | { readonly kind: 'reply'; readonly message: Message; readonly upstream: Upstream }
  /** `network`: no server could even be asked, by what the network said. */
  | { readonly kind: 'failed'; readonly reason: 'timeout' | 'network'; readonly codes: readonly string[] };

export interface ResolutionTerms {
  readonly clock: Clock;
  readonly timing: ForwardTiming;
  /** For `timing.deadline`. */
  readonly deadlines: DueLine;
  readonly udpSize: number;
  readonly tryNextOn: ReadonlySet<number>;
  /** Whether a second server may be asked early now; counts it if so. Undefined: no hedging. */
  readonly takeHedge: (() => boolean) | undefined;
}

/** Queries for one question, over all servers. */
const MOST_QUERIES = 10;

/** A server that is down is asked when those that are not were asked so often more. */
const DOWN_RELUCTANCE = 2;

/** What a question has had of one server. */
interface Candidate {
  readonly upstream: Upstream;
  asked: number;
  /** Whether it has answered badly or cannot be reached: it is not asked again. */
  isSpent: boolean;
}

export class Resolution extends DueEntry implements AttemptEvents {
  readonly #question: ForwardQuestion;
  readonly #terms: ResolutionTerms;
  readonly #candidates: readonly Candidate[];
  readonly #done: (outcome: ResolutionOutcome) => void;
  readonly #deadline: number;
  /** Under way, most often one. */
  readonly #attempts: Attempt[] = [];
  readonly #codes: string[] = [];
  #atOnce: number;
  #queries = 0;
  #isDone = false;
  /** The best of the answers that were not good enough. */
  #fallback: Extract<ResolutionOutcome, { readonly kind: 'reply' }> | undefined;
  /** For a hedge, or for a server's rate to allow a query. */
  #stepTimer: Timer | undefined;
  #withEdns: QueryMessage | undefined;

  /** @param done called once, perhaps before `start` returns @param now of the clock's monotonic time */
  constructor(
    question: ForwardQuestion,
    { upstreams, atOnce }: Candidates,
    terms: ResolutionTerms,
    done: (outcome: ResolutionOutcome) => void,
    now: number,
  ) {
    super();
    this.#question = question;
    this.#terms = terms;
    this.#candidates = upstreams.map((upstream) => ({ upstream, asked: 0, isSpent: false }));
    this.#atOnce = atOnce;
    this.#done = done;
    this.#deadline = now + terms.timing.deadline;
    terms.deadlines.set(this, now, terms.timing.deadline);
  }

  start(): void {
    for (; this.#atOnce > 1 && !this.#isDone; this.#atOnce -= 1) this.#askNext();
    if (!this.#isDone) this.#askNext();
  }

  /** Time is up. */
  due(): void {
    this.#giveUp();
  }

  /** Ends it without an outcome. */
  stop(): void {
    this.#end();
  }

  replied(attempt: Attempt, message: Message): void {
    if (this.#isDone) return;
    this.#remove(attempt);
    const { upstream } = attempt;
    const isGood = message instanceof PlainReply && !this.#terms.tryNextOn.has(message.rcode);
    if (isGood && attempt.query.hasEdns) {
      // Nothing of what follows concerns it.
      this.#finish({ kind: 'reply', message, upstream });
      return;
    }
    if (this.#asksWithoutEdns(attempt, message)) return;
    if (message.header.truncated || this.#terms.tryNextOn.has(message.header.rcode)) {
      this.#spend(upstream);
      this.#keepFallback(upstream, message);
      this.#continue();
      return;
    }
    this.#finish({ kind: 'reply', message, upstream });
  }

  slow(): void {
    const { takeHedge } = this.#terms;
    if (this.#isDone || takeHedge === undefined || this.#stepTimer !== undefined) return;
    if (this.#hasUnasked() && takeHedge()) this.#askNext();
  }

  overdue(): void {
    if (!this.#isDone) this.#askNext();
  }

  failed(attempt: Attempt, code: string): void {
    if (this.#isDone) return;
    this.#remove(attempt);
    this.#spend(attempt.upstream);
    this.#codes.push(`${attempt.upstream.text}: ${code}`);
    this.#continue();
  }

  #spend(upstream: Upstream): void {
    const candidate = this.#candidates.find((other) => other.upstream === upstream);
    if (candidate !== undefined) candidate.isSpent = true;
  }

  /** RFC 6891 section 7: a server that does not know EDNS says FORMERR, and is asked again without. */
  #asksWithoutEdns({ upstream, query }: Attempt, { header, edns }: Message): boolean {
    const isRefusal = header.rcode === RCODE.FORMERR && edns === undefined;
    if (isRefusal && query.hasEdns) {
      this.#ask(upstream, false);
      return true;
    }
    // Only what it answers without EDNS shows that EDNS was the reason.
    if (!isRefusal && !query.hasEdns) upstream.refusesEdns = true;
    return false;
  }

  #keepFallback(upstream: Upstream, message: Message): void {
    const isBetter = this.#fallback?.message.header.rcode !== RCODE.NOERROR;
    if (this.#fallback === undefined || (isBetter && message.header.rcode === RCODE.NOERROR))
      this.#fallback = { kind: 'reply', message: keepMessage(message), upstream };
  }

  /** After an answer that does not count: asks the next, unless another server still has time to reply. */
  #continue(): void {
    const isWaiting = this.#attempts.some((attempt) => !attempt.isOverdue);
    if (this.#hasUnasked() || !isWaiting) this.#askNext();
  }

  #hasUnasked(): boolean {
    return this.#candidates.some(({ asked, isSpent }) => asked === 0 && !isSpent);
  }

  #remove(attempt: Attempt): void {
    const place = this.#attempts.indexOf(attempt);
    if (place >= 0) this.#attempts.splice(place, 1);
  }

  /** Asks the first server that was asked least, as long as there is one worth asking. */
  #askNext(): void {
    this.#stepTimer?.cancel();
    this.#stepTimer = undefined;
    let best: Candidate | undefined;
    let leastDelay = Number.POSITIVE_INFINITY;
    for (const candidate of this.#candidates) {
      if (candidate.isSpent) continue;
      const delay = candidate.upstream.paceDelay();
      leastDelay = Math.min(leastDelay, delay);
      if (delay === 0 && (best === undefined || reluctance(candidate) < reluctance(best))) best = candidate;
    }
    const isAllSpent = leastDelay === Number.POSITIVE_INFINITY;
    if (isAllSpent) this.#giveUp();
    else if (this.#queries >= MOST_QUERIES) return;
    else if (best === undefined) this.#stepTimer = this.#terms.clock.after(leastDelay, () => this.#askNext());
    else {
      best.asked += 1;
      this.#ask(best.upstream, !best.upstream.refusesEdns);
    }
  }

  #ask(upstream: Upstream, withEdns: boolean): void {
    this.#queries += 1;
    const attempt = upstream.ask(this.#query(withEdns), this);
    // Its events may have come already.
    if (this.#isDone) attempt.release();
    else if (!attempt.isDone) {
      this.#attempts.push(attempt);
      if (isDown(upstream)) this.#planNext();
    }
  }

  #query(withEdns: boolean): QueryMessage {
    if (!withEdns) return writeQuery(this.#question, undefined);
    this.#withEdns ??= writeQuery(this.#question, this.#terms.udpSize);
    return this.#withEdns;
  }

  /** A server that is down was worth a try, but no wait while there is a better one. */
  #planNext(): void {
    if (this.#candidates.every(({ isSpent, upstream }) => isSpent || isDown(upstream))) return;
    this.#stepTimer?.cancel();
    this.#stepTimer = this.#terms.clock.after(this.#terms.timing.firstTimeout, () => this.#askNext());
  }

  #giveUp(): void {
    if (this.#fallback !== undefined) {
      this.#finish(this.#fallback);
      return;
    }
    const isTime = this.#terms.clock.monotonic() >= this.#deadline;
    const reason = isTime || this.#codes.length === 0 ? 'timeout' : 'network';
    this.#finish({ kind: 'failed', reason, codes: this.#codes });
  }

  #finish(outcome: ResolutionOutcome): void {
    if (this.#isDone) return;
    this.#end();
    this.#done(outcome);
  }

  #end(): void {
    this.#isDone = true;
    this.#terms.deadlines.cancel(this);
    this.#stepTimer?.cancel();
    for (const attempt of this.#attempts) attempt.release();
    this.#attempts.length = 0;
  }
}

function reluctance({ asked, upstream }: Candidate): number {
  return asked + (isDown(upstream) ? DOWN_RELUCTANCE : 0);
}
