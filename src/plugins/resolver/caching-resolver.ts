/**
 * The end of a chain that caches: it stores answers of the handlers behind it where readers find them, in the table.
 *
 * When an answer expires, it follows RFC 8767. An expired positive answer is kept. A question for it makes the handlers behind
 * ask for a new one. If they fail, or take longer than a client should wait, the stale answer is served. It then goes into the
 * table for a moment, so that readers serve it to all other clients. One such refresh is in flight per question.
 *
 * A question without RD is answered from the cache or by the handlers behind. It never refreshes, drops or caches an answer.
 */

import type { Clock } from '../../base/clock.ts';
import type { Answer, Forwarded } from '../../chain/answer.ts';
import { replyFromBody, replyFromEntry } from '../../chain/cached-reply.ts';
import { isCacheable, toCachedAnswer } from '../../chain/derived-answer.ts';
import type { Chain } from '../../chain/handler.ts';
import type { Look } from '../../chain/look.ts';
import type { Query } from '../../chain/query.ts';
import type { CachingResolverCounts } from '../../chain/resolver-stats.ts';
import { type StaleRules, staleBody } from '../../forward/caching/expiry.ts';
import { type QuestionKey, toCachedQuestion } from '../../forward/question-key.ts';
import { QuestionTable } from '../../forward/question-table.ts';
import type { AnswerBody, CachedEntry } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { extendedErrorOfCached } from '../../wire/extended-error.ts';
import { RCODE } from '../../wire/types.ts';
import { RESOLVER_OUTCOME } from './outcomes.ts';

export interface StaleSettings extends StaleRules {
  /** Milliseconds that a client waits for a new answer while there is a stale one; 0: it never waits. */
  readonly timeout: number;
}

export type AnswerStore = Pick<TableWriter, 'cache' | 'readCached' | 'dropCached'>;

export interface CachingResolverOptions {
  /** The handlers behind. */
  readonly ask: Chain;
  readonly store: AnswerStore;
  readonly clock: Clock;
  /** Whether cached answers carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** Undefined: stale answers are not served. May change. */
  readonly stale: () => StaleSettings | undefined;
  /** Grows with every change of the sources of answers. */
  readonly generation: () => number;
  /** Milliseconds that the client of a question has waited already. */
  readonly waited: (question: QuestionKey) => number;
}

/**
 * Seconds for which a failed refresh is not repeated. RFC 8767 section 5 recommends 30 to spare failing servers. One question per
 * name in 5 s spares them too, and a server that recovers is noticed sooner.
 */
const RECHECK_SECONDS = 5;

/** The older answer when a new one is asked for: missing, too old to be served (`useless`), or still to be served (`useful`). */
type Older = 'none' | 'useless' | 'useful';

interface Stale {
  readonly entry: CachedEntry;
  readonly body: AnswerBody;
  readonly settings: StaleSettings;
}

/** A question that is asked again for an expired answer. */
interface Refresh {
  readonly question: QuestionKey;
  readonly answer: Promise<Answer>;
  nextInChain: Refresh | undefined;
}

const REFRESH_CHAINS = 256;

export class CachingResolver {
  readonly #options: CachingResolverOptions;
  readonly #refreshes = new QuestionTable<Refresh>(REFRESH_CHAINS);
  #hits = 0;
  #misses = 0;
  #stale = 0;

  constructor(options: CachingResolverOptions) {
    this.#options = options;
  }

  answer(query: Query): Answer | Promise<Answer> {
    const { store, clock, stale } = this.#options;
    const entry = store.readCached(toCachedQuestion(query.questionKey));
    const now = Math.floor(clock.monotonic() / 1000);
    if (query.look !== undefined) return this.#look(query, query.look, entry, now);
    if (entry !== undefined && entry.expires > now) {
      this.#hits += 1;
      return { ...replyFromEntry(entry, now), ...errorsOf(entry, entry.freshUntil <= now) };
    }
    this.#misses += 1;
    if (!query.recursionDesired) return this.#options.ask(query);
    if (entry === undefined) return this.#fetch(query, 'none');
    const settings = stale();
    const body = settings && staleBody(entry, now, settings);
    if (settings === undefined || body === undefined) return this.#fetch(query, 'useless');
    return this.#refreshOnce(query, { entry, body, settings });
  }

  /** Gives a cached answer as it is, without asking again for an expired one. */
  #look(query: Query, look: Look, entry: CachedEntry | undefined, now: number): Answer | Promise<Answer> {
    if (look.passesCaches) return this.#options.ask(query);
    const settings = this.#options.stale();
    const body =
      entry === undefined || entry.expires > now ? entry?.body : settings && staleBody(entry, now, settings);
    if (entry === undefined || body === undefined) return this.#options.ask(query);
    look.foundEntry({ name: query.key, age: now - entry.stored, left: entry.expires - now });
    return entry.expires > now ? replyFromEntry(entry, now) : replyFromBody(entry, body, 0);
  }

  /** Grows with every change of the sources of answers. */
  get generation(): number {
    return this.#options.generation();
  }

  /** Counts questions asked elsewhere because the cache had no answer. */
  noteMisses(questions: number): void {
    this.#misses += questions;
  }

  /** Caches the answer to such a question. @param before the generation when the question came */
  keep(query: Query, answer: Exclude<Answer, { kind: 'drop' }>, before: number): void {
    this.#remember(query, answer, before, 'none');
  }

  /** Asks again for a cached answer. A failure leaves it as it is. */
  refresh(query: Query): Promise<Answer> {
    return this.#fetch(query, 'useful');
  }

  count(): CachingResolverCounts {
    return { hits: this.#hits, misses: this.#misses, stale: this.#stale };
  }

  async #fetch(query: Query, older: Older): Promise<Answer> {
    const { ask, generation } = this.#options;
    const before = generation();
    const answer = await ask(query);
    if (answer.kind !== 'drop') this.#remember(query, answer, before, older);
    return answer;
  }

  #remember(query: Query, answer: Exclude<Answer, { kind: 'drop' }>, before: number, older: Older): void {
    const { store, clock, recursionAvailable, generation } = this.#options;
    if (!query.recursionDesired || (older === 'useful' && isFailure(answer))) return;
    const { answered } = RESOLVER_OUTCOME;
    const cached = isCacheable(query, answer, before, generation())
      ? toCachedAnswer(query, answer, recursionAvailable, answered)
      : undefined;
    if (cached !== undefined && store.cache(cached, clock.monotonic())) return;
    // Any new answer makes the older one invalid (RFC 8767 section 4).
    if (older !== 'none' && !isFailure(answer)) store.dropCached(toCachedQuestion(query.questionKey));
  }

  #refreshOnce(query: Query, stale: Stale): Promise<Answer> {
    const question = query.questionKey;
    const underWay = this.#refreshes.find(question);
    if (underWay !== undefined) return underWay.answer;
    const waited = this.#options.waited(question);
    const fetched = this.#fetch(query, 'useful').finally(() => this.#refreshes.remove(refresh));
    const answer = this.#answerOrServeStale(fetched, stale, waited);
    const refresh: Refresh = { question, answer, nextInChain: undefined };
    this.#refreshes.add(refresh);
    return answer;
  }

  /** @param fetched may resolve long after the client has its answer */
  #answerOrServeStale(fetched: Promise<Answer>, stale: Stale, waited: number): Promise<Answer> {
    const { clock, generation } = this.#options;
    const before = generation();
    return new Promise((resolve) => {
      let isAnswered = false;
      const settle = (answer: () => Answer | Promise<Answer>) => {
        if (isAnswered) return;
        isAnswered = true;
        timer.cancel();
        resolve(answer());
      };
      // The stale answer may be from servers that must not be asked any more.
      const serveStale = () => settle(() => (before === generation() ? this.#keepStale(stale) : fetched));
      const timeout = Math.max(0, timeoutWith(stale) - waited);
      const timer = clock.after(timeout, serveStale);
      if (timeout === 0) serveStale();
      fetched.then((answer) => (isFailure(answer) ? serveStale() : settle(() => answer)), serveStale);
    });
  }

  #keepStale({ entry, body }: Stale): Answer {
    const { store, clock } = this.#options;
    this.#stale += 1;
    const kept = { ...entry, body, lifetime: RECHECK_SECONDS, outcome: RESOLVER_OUTCOME.stale };
    store.cache(kept, clock.monotonic());
    return { ...replyFromBody(entry, body, 0), ...errorsOf(entry, true) };
  }
}

function errorsOf(
  { body, passedErrors }: CachedEntry,
  isStale: boolean,
): Pick<Forwarded, 'extendedError' | 'passedErrors'> {
  return { extendedError: extendedErrorOfCached(body.rcode, isStale), passedErrors };
}

/** Milliseconds; 0 if the servers have just failed: clients do not wait for them. */
function timeoutWith({ entry, settings }: Stale): number {
  return entry.freshUntil < entry.expires ? 0 : settings.timeout;
}

/** Whether the servers failed to answer (RFC 8767 section 4: only NOERROR and NXDOMAIN refresh data). */
function isFailure(answer: Answer): boolean {
  if (answer.kind === 'forwarded') return answer.rcode !== RCODE.NOERROR && answer.rcode !== RCODE.NXDOMAIN;
  return answer.kind === 'servfail' || answer.kind === 'overloaded' || answer.kind === 'refused';
}
