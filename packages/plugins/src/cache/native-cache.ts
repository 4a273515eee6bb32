/**
 * Answers by our own rules and by those of dnsmasq. They lie in the table, in the view that all clients share, and nowhere else.
 *
 * An expired answer with records is kept, and served stale by RFC 8767. It then goes into the table for a moment, so that readers serve
 * it to all other clients. A question without RD is answered from here or by the handlers behind. It never refreshes, drops or caches an
 * answer.
 *
 * It outlives plans.
 */
import { isDeepStrictEqual } from 'node:util';
import { extendedErrorOfCached } from '@portolan/dns/extended-error.ts';
import { encodeName, ROOT } from '@portolan/dns/name.ts';
import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Answer, Forwarded } from '@portolan/kernel/chain/answer.ts';
import { messageFromEntry, replyFromBody, replyFromEntry } from '@portolan/kernel/chain/cached-reply.ts';
import { isCacheable, toCachedAnswer } from '@portolan/kernel/chain/derived-answer.ts';
import type { Next } from '@portolan/kernel/chain/handler.ts';
import { type HandoverAnswer, readHandover } from '@portolan/kernel/chain/handover-answer.ts';
import { RESOLVER_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { KeptReplies, SentReply } from '@portolan/kernel/chain/reader-forwarding.ts';
import type { OwnCacheCounts } from '@portolan/kernel/contract/plugin.ts';
import { staleBody } from '@portolan/kernel/forward/caching/expiry.ts';
import { type QuestionKey, toCachedQuestion } from '@portolan/kernel/forward/question-key.ts';
import type { FillConsumer } from '@portolan/kernel/forward/reader-path/fill-ring.ts';
import type { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import { writeAnswerBody } from '@portolan/kernel/table/answer-body.ts';
import { type AnswerBody, type CachedEntry, DEFAULT_VIEW } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { CacheAnswers, FoundAnswer, Refreshed } from './cache-answers.ts';
import { ForwardedReplies } from './forwarded-replies.ts';
import { type NativeRules, toPatience } from './options.ts';

interface OwnFound extends FoundAnswer {
  readonly entry: CachedEntry;
  /** With the TTLs of a stale answer; undefined: it is fresh. */
  readonly staleBody: AnswerBody | undefined;
}

export interface NativeCacheDependencies {
  readonly table: TableWriter;
  readonly clock: Clock;
  /** Is notified when the sources of answers change. */
  readonly readerPath?: Pick<ReaderPath, 'noteGeneration'>;
}

/** Answers scanned without a pause. */
const PART = 1000;
const OURS: readonly number[] = Object.values(RESOLVER_OUTCOME);

export class NativeCache implements CacheAnswers<OwnFound> {
  readonly joinsRefreshes = true;
  readonly eachRefreshes = true;
  /** Milliseconds that the client of a question has waited already. */
  waited: (question: QuestionKey) => number = () => 0;
  readonly #dependencies: NativeCacheDependencies;
  readonly #forwarded: ForwardedReplies;
  #rules: NativeRules;
  #generation = 0;
  #hits = 0;
  #misses = 0;
  #stale = 0;
  #prefetched = 0;

  constructor(rules: NativeRules, { table, clock, readerPath }: NativeCacheDependencies) {
    this.#rules = rules;
    // Keeps no other reference to its block, which it outlives.
    this.#dependencies = { table, clock, ...(readerPath && { readerPath }) };
    this.#forwarded = new ForwardedReplies(table, clock);
  }

  get rules(): NativeRules {
    return this.#rules;
  }

  /** Drops all answers if others are cached from now on. Equal rules for that stay the same object. */
  change(rules: NativeRules): void {
    if (rules === this.#rules) return;
    const { caching } = this.#rules;
    const isSame = isDeepStrictEqual(rules.caching, caching);
    this.#rules = isSame ? { ...rules, caching } : rules;
    if (isSame) this.noteChange();
    else this.forget(ROOT);
  }

  /** Whether to serve an expired answer while a new one is fetched. */
  get servesStaleAtOnce(): boolean {
    const { serveStale } = this.#rules;
    return serveStale !== undefined && toPatience(serveStale) === 0;
  }

  get generation(): number {
    return this.#generation;
  }

  /** The sources of answers have changed: answers on their way are not cached. */
  noteChange(): void {
    this.#generation += 1;
    this.#dependencies.readerPath?.noteGeneration();
  }

  forget(domain: NameKey): void {
    this.noteChange();
    this.#dependencies.table.dropCachedWithin(encodeName(domain));
  }

  find(query: Query): OwnFound | undefined {
    const entry = this.#dependencies.table.readCached(toCachedQuestion(query.questionKey));
    if (entry === undefined) return undefined;
    const now = this.#now();
    const age = now - entry.stored;
    const left = entry.expires - now;
    if (left > 0) return { entry, age, left, staleBody: undefined };
    const { serveStale } = this.#rules;
    if (serveStale === undefined || !(query.recursionDesired || query.look !== undefined)) return undefined;
    const body = staleBody(entry, now, { maxSeconds: serveStale.duration / 1000, shownTtl: serveStale.ttl });
    return body && { entry, age, left, staleBody: body };
  }

  count(_: Query, found: OwnFound | undefined): void {
    if (found?.staleBody === undefined && found !== undefined) this.#hits += 1;
    else this.#misses += 1;
  }

  /** Counts questions asked elsewhere because the cache had no answer. */
  #noteMisses(questions: number): void {
    this.#misses += questions;
  }

  /** Counts an answer that is refreshed before its end. */
  notePrefetch(): void {
    this.#prefetched += 1;
  }

  counts(): OwnCacheCounts {
    return { hits: this.#hits, misses: this.#misses, stale: this.#stale, prefetched: this.#prefetched };
  }

  async fetch(query: Query, next: Next): Promise<Answer> {
    const before = this.#generation;
    const answer = await next(query);
    this.keep(query, answer, before);
    return answer;
  }

  async refresh(query: Query, next: Next): Promise<Refreshed> {
    const before = this.#generation;
    const answer = await next(query);
    const isFresh = !isFailure(answer);
    if (isFresh) this.keep(query, answer, before);
    return { answer, isFresh };
  }

  /** Caches an answer, in place of an older one. @param before the generation when the question came */
  keep(query: Query, answer: Answer, before: number): void {
    if (!query.recursionDesired || answer.kind === 'drop') return;
    const { table, clock } = this.#dependencies;
    const cached = isCacheable(query, answer, before, this.#generation)
      ? toCachedAnswer(query, answer, true, RESOLVER_OUTCOME.answered)
      : undefined;
    if (cached !== undefined && table.cache(cached, clock.monotonic())) return;
    // Any new answer makes the older one invalid (RFC 8767 section 4).
    if (!isFailure(answer)) table.dropCached(toCachedQuestion(query.questionKey));
  }

  isDue(): boolean {
    return false;
  }

  mayRefresh(): boolean {
    return true;
  }

  /** The table notes failed refreshes: see `giveStale`. */
  endRefresh(): void {}

  /** Clients do not wait if the servers have just failed. */
  patienceFor({ questionKey }: Query, { entry }: OwnFound): number | undefined {
    const { serveStale } = this.#rules;
    if (serveStale === undefined || entry.freshUntil < entry.expires) return 0;
    const patience = toPatience(serveStale);
    return patience && Math.max(0, patience - this.waited(questionKey));
  }

  give(query: Query, found: OwnFound): Answer {
    return {
      ...this.show(query, found),
      ...toErrorFields(found.entry, found.entry.freshUntil <= this.#now()),
    };
  }

  giveStale(query: Query, found: OwnFound): Answer {
    const { entry, staleBody: body = entry.body } = found;
    const lifetime = Math.floor((this.#rules.serveStale?.recheck ?? 0) / 1000);
    this.#stale += 1;
    const kept = { ...entry, body, lifetime, outcome: RESOLVER_OUTCOME.stale };
    this.#dependencies.table.cache(kept, this.#dependencies.clock.monotonic());
    return { ...this.show(query, found), ...toErrorFields(entry, true) };
  }

  show({ question }: Query, { entry, staleBody: body }: OwnFound): Forwarded {
    return body === undefined
      ? replyFromEntry(entry, this.#now(), question.name)
      : replyFromBody(entry, body, 0, question.name);
  }

  /** How replies that readers have sent to their clients are cached. */
  keptReplies(): KeptReplies {
    return {
      form: { kind: 'own', caching: this.#rules.caching },
      view: DEFAULT_VIEW,
      servesStale: this.servesStaleAtOnce,
      exceptions: [],
      missed: (clients) => this.#noteMisses(clients),
      keep: (reply, about) => this.#keepReply(reply, about),
    };
  }

  #keepReply(fill: FillConsumer, { isEncoded, trustsAd }: SentReply): void {
    const { table } = this.#dependencies;
    if (isEncoded && table.cacheEncoded(fill.words, fill.entryWord, fill.entryLength)) return;
    this.#forwarded.keep(fill, this.#rules.caching, trustsAd);
  }

  *handOver(isUsed: boolean): Iterable<HandoverAnswer> {
    let from = 0;
    do {
      const { table } = this.#dependencies;
      const { found, next } = table.scanCached(from, PART, () => true, undefined, isUsed);
      for (const entry of found)
        if (OURS.includes(entry.outcome) && entry.beforeCache !== true) yield this.#toHanded(entry);
      from = next;
    } while (from !== 0);
  }

  #toHanded(entry: CachedEntry): HandoverAnswer {
    const { dnssecOk, checkingDisabled, stored, expires, freshUntil } = entry;
    const age = Math.max(0, this.#now() - stored);
    // Hand over an answer that is served stale as the expired answer that it is.
    const lifetime = Math.max(1, Math.min(expires, freshUntil) - stored);
    return { kind: 0, dnssecOk, checkingDisabled, age, lifetime, message: messageFromEntry(entry) };
  }

  adopt(answer: HandoverAnswer): void {
    const { key, message } = readHandover(answer);
    const { rcode, authenticData, recursionAvailable } = message.header;
    const { answers, authorities, additionals } = message;
    const records = { rcode, authoritative: false, authenticData, answers, authorities, additionals };
    const written = writeAnswerBody(key, records);
    if (written === undefined) return;
    const { body, ttlOffsets } = written;
    const { lifetime, age } = answer;
    const kept = { body, ttlOffsets, recursionAvailable, lifetime, outcome: RESOLVER_OUTCOME.answered };
    const { table, clock } = this.#dependencies;
    table.cache({ ...toCachedQuestion(key), ...kept }, clock.monotonic() - age * 1000);
  }

  #now(): number {
    return Math.floor(this.#dependencies.clock.monotonic() / 1000);
  }
}

function toErrorFields(
  { body, passedErrors }: CachedEntry,
  isStale: boolean,
): Pick<Forwarded, 'extendedError' | 'passedErrors'> {
  return { extendedError: extendedErrorOfCached(body.rcode, isStale), passedErrors };
}

/** Whether the servers failed to answer (RFC 8767 section 4: only NOERROR and NXDOMAIN refresh data). */
function isFailure(answer: Answer): boolean {
  if (answer.kind === 'forwarded') return answer.rcode !== RCODE.NOERROR && answer.rcode !== RCODE.NXDOMAIN;
  return answer.kind === 'servfail' || answer.kind === 'overloaded' || answer.kind === 'refused';
}
