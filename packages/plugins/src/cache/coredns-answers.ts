/**
 * Answers by the rules of plugin/cache of CoreDNS 1.14.7. All records of an answer have one TTL; answers with records and denials have
 * separate bounds.
 */
import { extendedErrorOfCached } from '@portolan/dns/extended-error.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import { wantsAuthenticData } from '@portolan/dns/query.ts';
import { MAX_MESSAGE_OCTETS, MAX_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { type NameKey, OPCODE, RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { type Answer, toReply, type WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { messageFromEntry, replyFromBody } from '@portolan/kernel/chain/cached-reply.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { type HandoverAnswer, readHandover } from '@portolan/kernel/chain/handover-answer.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import { CACHE_OUTCOMES } from '@portolan/kernel/chain/outcomes.ts';
import { type Dependence, OURSELVES, Query, type QuerySite } from '@portolan/kernel/chain/query.ts';
import { KEPT_REPLIES, type KeptReplies } from '@portolan/kernel/chain/reader-forwarding.ts';
import { isReadAsStored, messageToAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { QuestionKey } from '@portolan/kernel/forward/question-key.ts';
import { questionOfFill } from '@portolan/kernel/forward/reader-path/fill-question.ts';
import type { FillConsumer } from '@portolan/kernel/forward/reader-path/fill-ring.ts';
import { type CutBody, cutBody } from '@portolan/kernel/table/cut-body.ts';
import type { CachedEntry, ViewId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { CacheAnswers, FoundAnswer, Refreshed, RefreshReason } from './cache-answers.ts';
import { CACHE_KINDS, type CacheKind, CacheMetrics } from './cache-metrics.ts';
import { CacheStore, type StoredAnswer } from './cache-store.ts';
import { answersQuestion, classify, computeLifetime, denialBounds, mayKeep } from './classify.ts';
import { type CachePrefetch, type CoreDnsCacheRules, computeEntries, toPatience } from './options.ts';
import { Popularity } from './popularity.ts';

export interface CoreDnsAnswersDependencies {
  readonly clock: Clock;
  readonly table: TableWriter;
  readonly metrics: MetricRegistry;
  /** The deviations in which answers are those of CoreDNS. */
  readonly restored: RestoredDeviations;
  /** Whether the block rotates the addresses of answers; known once it is complete. */
  readonly rotates: () => boolean;
}

/** An answer of the handlers behind. `isKept`: it is in the cache now. */
interface Fetched {
  readonly answer: Answer;
  readonly isKept: boolean;
}

interface Hit extends StoredAnswer, FoundAnswer {
  /** For the client: it may be cut. */
  readonly answer: WholeAnswer;
}

export class CoreDnsAnswers implements CacheAnswers<Hit> {
  /** A plan that changes has answers of its own. */
  readonly generation = 0;
  readonly joinsRefreshes = false;
  readonly eachRefreshes: boolean;
  readonly #rules: CoreDnsCacheRules;
  readonly #clock: Clock;
  readonly #store: CacheStore;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #uncached: Readonly<Record<CacheKind, ReadonlySet<NameKey>>>;
  readonly #metrics: CacheMetrics;
  /** Sites that answers were cached for, by server. */
  readonly #sites = new Map<string, QuerySite>();
  #lastSite: QuerySite | undefined;
  readonly #interest: Popularity;
  readonly #endCollecting: () => void;
  readonly #keepsExtendedErrors: boolean;
  /** Whether negative answers are kept for the minimum in their SOA record at most. */
  readonly #heedsMinimum: boolean;
  readonly #maxUdpSize: number;
  readonly #rotates: () => boolean;
  /** Whether sets of addresses start at a random one; undefined until the block is complete. */
  #isRotating: boolean | undefined;
  #isStopped = false;

  /** @param former those of another cache, whose entries it takes over */
  constructor(rules: CoreDnsCacheRules, dependencies: CoreDnsAnswersDependencies, former?: CoreDnsAnswers) {
    const { clock, table, metrics, restored } = dependencies;
    this.#rules = rules;
    this.eachRefreshes = (rules.serveStale?.recheck ?? 0) === 0;
    this.#keepsExtendedErrors = !restored.has('extended-errors');
    this.#heedsMinimum = !restored.has('negative-ttl');
    this.#maxUdpSize = restored.has('udp-size-bound') ? MAX_MESSAGE_OCTETS : MAX_UDP_SIZE;
    this.#rotates = dependencies.rotates;
    this.#clock = clock;
    this.#metrics = new CacheMetrics(metrics, rules.zones);
    this.#endCollecting = metrics.collectBy(() => this.#showSizes());
    const success = computeEntries(rules.success);
    const denial = computeEntries(rules.denial);
    this.#store =
      former === undefined
        ? new CacheStore(table, {
            capacity: { success, denial },
            keepsTtl: rules.keepTtl,
            keepsExpired: rules.serveStale !== undefined,
          })
        : former.#store.retain();
    this.#interest = new Popularity(success + denial);
    this.#zones = new Set(rules.zones);
    this.#uncached = { success: new Set(rules.uncachedSuccess), denial: new Set(rules.uncachedDenial) };
  }

  /** The handler of a block. @param answer for names of its zones */
  createHandler(answer: (query: Query, next: Next) => Answer | Promise<Answer>): Handler {
    return {
      name: 'cache',
      role: 'cache',
      view: this.#store.shared,
      hits: this.#metrics.hits,
      ttlBounds: this.#rules,
      passing: this.#metrics.passing,
      offers: [KEPT_REPLIES.offer((zone) => this.#forwardedIn(zone))],
      questions: namesWithin(this.#zones),
      answers: 'unchanged',
      handle: (query, next) => (isWithinAny(query.key, this.#zones) ? answer(query, next) : next(query)),
    };
  }

  /** The view of answers that readers may give. */
  get view(): ViewId {
    return this.#store.shared;
  }

  /** Where queries of our own count. */
  get site(): QuerySite | undefined {
    return this.#lastSite;
  }

  *handOver(isUsed: boolean): Iterable<HandoverAnswer> {
    for (const wasRead of isUsed ? [true, false] : [false])
      for (const { kind, entry } of this.#store.stored(wasRead)) {
        if ((wasRead || this.#interest.of(entry).hits > 0) !== isUsed) continue;
        const { dnssecOk, checkingDisabled, lifetime } = entry;
        const age = Math.max(0, this.#computeAge(entry));
        const message = messageFromEntry(entry);
        yield { kind: CACHE_OUTCOMES[kind], dnssecOk, checkingDisabled, age, lifetime, message };
      }
  }

  adopt(answer: HandoverAnswer): void {
    const kind = CACHE_KINDS[answer.kind];
    if (kind === undefined) return;
    const { key, message } = readHandover(answer);
    const now = this.#clock.monotonic() - answer.age * 1000;
    this.#store.put(kind, key, messageToAnswer(message), this.#computeLifetime(answer.lifetime, now));
  }

  forget(domain: NameKey): void {
    this.#store.removeWithin(domain);
  }

  stop(): void {
    if (!this.#isStopped) this.#store.release();
    this.#endCollecting();
    this.#isStopped = true;
  }

  count(query: Query, found: Hit | undefined): void {
    this.#metrics.requested(query);
    if (found === undefined) this.#metrics.missed(query);
    else this.#metrics.hit(query, found.kind);
  }

  async fetch(query: Query, next: Next): Promise<Answer> {
    const before = query.dependence;
    const { answer, isKept } = await this.#fetch(query, next);
    this.#noteFirst(query, before, answer, isKept);
    return answer;
  }

  give(query: Query, found: Hit): Answer {
    const before = query.dependence;
    const { keepTtl } = this.#rules;
    const until = this.#share(found);
    // Answers that earlier handlers make from this one may be stored for as long as readers give this one.
    if (until === undefined || keepTtl) query.forbidStoring();
    else query.answeredFromCache(before, { until });
    const cached = this.#present(query, found, keepTtl ? found.entry.lifetime : found.left);
    return { ...cached, extendedError: extendedErrorOfCached(cached.rcode, false) };
  }

  giveStale(query: Query, found: Hit): Answer {
    this.#metrics.servedStale(query);
    const stale = this.#present(query, found, this.#rules.serveStale?.ttl ?? 0);
    return { ...stale, extendedError: extendedErrorOfCached(stale.rcode, true) };
  }

  show(query: Query, found: Hit): Answer {
    return this.#present(query, found, Math.max(0, found.left));
  }

  find(query: Query): Hit | undefined {
    const { success, denial } = this.#store.find(query.questionKey);
    const positive = success && this.#toHit(query, success);
    if (positive !== undefined && this.#prefersPositive)
      if (answersQuestion(query.question, positive.answer.answers)) return positive;
    const negative = denial && this.#toHit(query, denial);
    // Failures are temporary: prefer a good answer that is still cached.
    if (negative?.answer.rcode === RCODE.SERVFAIL) return positive ?? negative;
    return negative ?? positive;
  }

  #toHit(query: Query, stored: StoredAnswer): Hit | undefined {
    const { serveStale } = this.#rules;
    const { entry } = stored;
    const age = this.#computeAge(entry);
    const left = entry.lifetime - age;
    if (left <= 0 && (serveStale === undefined || -left >= serveStale.duration / 1000)) return undefined;
    const cut = cutBody(entry.body, query.roomFor(this.#maxUdpSize), this.#pick());
    return { ...stored, answer: toAnswer(query, entry, cut), age, left };
  }

  /** How a cut set of addresses is rotated, as `loadbalance` would if it saw all of them. */
  #pick(): ((count: number) => number) | undefined {
    this.#isRotating ??= this.#rotates();
    return this.#isRotating ? (count) => Math.floor(Math.random() * count) : undefined;
  }

  /** @returns the answer of the handlers behind, with the TTLs that it is cached with */
  async #fetch(query: Query, next: Next, isOurs = false): Promise<Fetched> {
    const answer = await next(withAuthenticData(query));
    const whole = toWholeAnswer(answer);
    return whole === undefined ? { answer, isKept: false } : this.#keep(query, whole, isOurs);
  }

  #keep(query: Query, answer: WholeAnswer, isOurs: boolean): Fetched & { readonly answer: WholeAnswer } {
    const answerClass = classify(query, answer, Math.floor(this.#clock.now() / 1000));
    const ttl = computeLifetime(answer, answerClass, this.#rules, this.#heedsMinimum);
    const told = withTtl(this.#withoutEdns(answer), ttl);
    const presented = { ...told, authenticData: told.authenticData && wantsAuthenticData(query) };
    // The stale answer that this one replaces would come again and again.
    if (!query.mayBeCached) this.#drop(query.questionKey);
    if (ttl <= 0 || !mayKeep(query, answer, answerClass)) return { answer: presented, isKept: false };
    const kind = answerClass === 'success' || answerClass === 'delegation' ? 'success' : 'denial';
    if (isWithinAny(query.key, this.#uncached[kind])) return { answer: presented, isKept: false };
    this.#put(query, kind, told, ttl);
    // The answer to a refresh is as popular as the one before.
    if (!isOurs) this.#interest.forget(query.questionKey);
    const replaces = this.#prefersPositive ? answersQuestion(query.question, answer.answers) : isOurs;
    const denial = kind === 'success' && replaces ? this.#store.find(query.questionKey).denial : undefined;
    if (denial !== undefined) this.#store.remove(denial);
    return { answer: presented, isKept: true };
  }

  #drop(key: QuestionKey): void {
    for (const stored of Object.values(this.#store.find(key))) this.#store.remove(stored);
  }

  /** The OPT record concerns one hop, so CoreDNS drops it. Its extended errors are kept unless `extended-errors` is restored. */
  #withoutEdns(answer: WholeAnswer): WholeAnswer {
    const { edns: _, passedErrors, ...others } = answer;
    return passedErrors === undefined || !this.#keepsExtendedErrors ? others : { ...others, passedErrors };
  }

  #put(query: Query, kind: CacheKind, answer: WholeAnswer, ttl: number): void {
    const key = query.questionKey;
    const stored = this.#store.put(kind, key, answer, this.#computeLifetime(ttl, this.#clock.monotonic()));
    if (stored === 'evicted') this.#metrics.evicted(query.site, kind);
    this.#noteSite(query.site);
  }

  /** Readers give an answer at once, unless its popularity counts. @param now when it is stored */
  #computeLifetime(ttl: number, now: number) {
    return { ttl, readSeconds: this.#rules.prefetch === undefined ? ttl : 0, now };
  }

  #noteSite(site: QuerySite): void {
    if (site === this.#lastSite) return;
    this.#lastSite = site;
    this.#sites.set(site.server, site);
  }

  #showSizes(): void {
    const success = this.#store.countEntries('success');
    const denial = this.#store.countEntries('denial');
    for (const site of this.#sites.values()) this.#metrics.show(site, { success, denial });
    this.#metrics.showEvictions();
  }

  /**
   * Lets readers give an answer, until a refresh is due.
   *
   * @returns milliseconds of the monotonic clock, until which they do; undefined: they do not
   */
  #share(found: Hit): number | undefined {
    const { answer, entry } = found;
    const { prefetch } = this.#rules;
    const isReadable = !answer.truncated && isReadAsStored(answer, entry.body.rotation !== undefined);
    if (prefetch === undefined) return this.#store.share(found, isReadable, entry.lifetime);
    const isPopular = this.#interest.of(entry).hits >= prefetch.amount;
    const seconds = isPopular ? entry.lifetime - computeDueSeconds(prefetch, entry.lifetime) : 0;
    return this.#store.share(found, isReadable, seconds);
  }

  /** The flags of the first answer differ from those of later ones. */
  #noteFirst(query: Query, before: Dependence, answer: Answer, isKept: boolean): void {
    if (!isKept && mayRepeat(answer)) {
      query.keptNothing();
      return;
    }
    const hit = isKept && query.isComposed && !this.#rules.keepTtl ? this.find(query) : undefined;
    const until = hit !== undefined && hit.left > 0 ? this.#share(hit) : undefined;
    if (hit === undefined || until === undefined) query.forbidStoring();
    else query.answeredFirst(before, { until }, 'cache', this.#metrics.later(hit.kind));
  }

  /** With `prefetch`, the cache must see each question for a new answer, to count its popularity. */
  #forwardedIn(zone: NameKey): KeptReplies | undefined {
    const { success, serveStale, prefetch, keepTtl } = this.#rules;
    if (!isWithinAny(zone, this.#zones)) return undefined;
    const heedsMinimum = this.#heedsMinimum;
    const denial = denialBounds(this.#rules, heedsMinimum);
    const countsHits = prefetch !== undefined;
    return {
      form: { kind: 'as-sent', caching: { success, denial, heedsMinimum, countsHits } },
      view: keepTtl ? undefined : this.#store.shared,
      servesStale: serveStale !== undefined,
      exceptions: [...this.#uncached.success, ...this.#uncached.denial],
      keep: (reply, { site, isEncoded }) => this.#keepReply(reply, site, isEncoded),
    };
  }

  #keepReply(reply: FillConsumer, site: QuerySite, isEncoded: boolean): void {
    const kind: CacheKind = reply.authorities > 0 ? 'denial' : 'success';
    const uncached = this.#uncached[kind];
    if (uncached.size > 0 && isWithinAny(questionOfFill(reply).name, uncached)) return;
    const stored =
      isEncoded && !this.#prefersPositive
        ? this.#store.putEncoded(kind, reply, this.#clock.monotonic())
        : 'refused';
    if (this.#rules.prefetch !== undefined) this.#interest.forget(questionOfFill(reply));
    if (stored === 'refused') this.#keepMessage(questionOfFill(reply), reply, site);
    else if (stored === 'evicted') this.#metrics.evicted(site, kind);
    this.#noteSite(site);
  }

  /** Stores a reply as if it came from the handlers behind. */
  #keepMessage(key: QuestionKey, { octets, start, length }: FillConsumer, site: QuerySite): void {
    const message = decodeMessage(octets.slice(start, start + length));
    const { dnssecOk, checkingDisabled } = key;
    const header = { ...message.header, response: false, checkingDisabled };
    const edns = dnssecOk
      ? { udpSize: length, dnssecOk, extendedRcode: 0, version: 0, options: [] }
      : undefined;
    const query = new Query(key, { header, question: key, edns }, OURSELVES, undefined, site);
    this.#keep(query, messageToAnswer(message), false);
  }

  #present(query: Query, { answer }: Hit, ttl: number): WholeAnswer {
    return { ...withTtl(answer, ttl), authenticData: answer.authenticData && wantsAuthenticData(query) };
  }

  patienceFor(): number | undefined {
    const { serveStale } = this.#rules;
    return serveStale && toPatience(serveStale);
  }

  async refresh(query: Query, next: Next, { isOurs, isStale }: RefreshReason): Promise<Refreshed> {
    if (isOurs) this.#metrics.prefetched(query);
    const asked = isOurs ? query.forOurselves() : query;
    if (!isStale) return { ...(await this.#fetch(asked, next, isOurs)), isFresh: true };
    const answer = await next(withAuthenticData(asked));
    const whole = toWholeAnswer(answer);
    if (whole === undefined || whole.truncated) return { answer: undefined, isFresh: false };
    if (this.#prefersPositive) {
      const kept = this.#keep(asked, whole, isOurs);
      const isFresh = whole.rcode === RCODE.NOERROR && answersQuestion(query.question, whole.answers);
      return { answer: this.#asWaitedFor(kept), isFresh };
    }
    const isFresh =
      classify(query, whole, Math.floor(this.#clock.now() / 1000)) !== 'none' &&
      (whole.rcode === RCODE.NOERROR || whole.rcode === RCODE.NXDOMAIN);
    return { answer: isFresh ? this.#asWaitedFor(this.#keep(asked, whole, isOurs)) : answer, isFresh };
  }

  /** An answer that comes in time is given as it was cached. */
  #asWaitedFor({ answer, isKept }: Fetched): Answer {
    const isCached = isKept && this.patienceFor() !== undefined && answer.kind === 'message';
    return isCached ? { ...answer, authoritative: true } : answer;
  }

  get #prefersPositive(): boolean {
    return this.#rules.serveStale?.prefersPositive === true;
  }

  isDue({ entry, isHidden, left }: Hit): boolean {
    const { prefetch } = this.#rules;
    if (prefetch === undefined) return false;
    const known = this.#interest.of(entry);
    const lastHit = this.#clock.monotonic();
    // An answer that readers have given was asked for recently.
    const wasRead = !isHidden && entry.used && entry.freshUntil > entry.stored;
    const hits = lastHit - known.lastHit > prefetch.duration && !wasRead ? 1 : known.hits + 1;
    this.#interest.note(entry, { ...known, hits, lastHit });
    return hits >= prefetch.amount && left <= computeDueSeconds(prefetch, entry.lifetime);
  }

  mayRefresh({ entry }: Hit): boolean {
    return this.#clock.monotonic() >= this.#interest.of(entry).retryAt;
  }

  endRefresh(query: Query, { entry }: Hit, isFresh: boolean, { isOurs }: RefreshReason): void {
    const { recheck = 0 } = this.#rules.serveStale ?? {};
    if (!isFresh && recheck > 0)
      this.#interest.note(entry, { ...this.#interest.of(entry), retryAt: this.#clock.monotonic() + recheck });
    const fresh = isFresh && isOurs ? this.find(query) : undefined;
    if (fresh !== undefined) this.#share(fresh);
  }

  /** Seconds. */
  #computeAge({ storedAt }: CachedEntry): number {
    return Math.floor((this.#clock.monotonic() - storedAt) / 1000);
  }
}

/** When a popular answer is refreshed: seconds before its end. */
function computeDueSeconds({ percentage }: CachePrefetch, ttl: number): number {
  return Math.ceil((percentage / 100) * ttl);
}

/** An answer of any kind as it would be sent; undefined for failures that are not cached. */
function toWholeAnswer(answer: Answer): WholeAnswer | undefined {
  switch (answer.kind) {
    case 'message':
      return answer;
    case 'drop':
    case 'refused':
    case 'servfail':
    case 'notimp':
    case 'formerr':
    case 'overloaded':
      return undefined;
    default: {
      const { rcode = RCODE.NOERROR, authoritative = false, truncated = false, ...reply } = toReply(answer);
      const { authenticData = false, answers = [], authorities = [], additionals = [] } = reply;
      return {
        kind: 'message',
        rcode,
        authoritative,
        truncated,
        recursionAvailable: false,
        authenticData,
        answers,
        authorities,
        additionals,
      };
    }
  }
}

function toAnswer({ question }: Query, entry: CachedEntry, { body, isCut }: CutBody): WholeAnswer {
  const { rcode, authenticData, answers, authorities, additionals } = replyFromBody(
    entry,
    body,
    0,
    question.name,
  );
  return {
    kind: 'message',
    rcode,
    authenticData,
    answers,
    authorities,
    additionals,
    // Some old clients discard answers without it.
    authoritative: true,
    truncated: isCut,
    recursionAvailable: entry.recursionAvailable,
    passedErrors: entry.passedErrors,
  };
}

function withTtl(answer: WholeAnswer, ttl: number): WholeAnswer {
  const change = (records: readonly ResourceRecord[]) =>
    records.every((record) => record.ttl === ttl) ? records : records.map((record) => ({ ...record, ttl }));
  const { answers, authorities, additionals } = answer;
  return {
    ...answer,
    answers: change(answers),
    authorities: change(authorities),
    additionals: change(additionals),
  };
}

/** Whether handlers would answer the same again: no failure, and nothing that this client alone has no room for. */
function mayRepeat(answer: Answer): boolean {
  if (answer.kind !== 'message' || answer.truncated) return false;
  return answer.rcode === RCODE.NOERROR || answer.rcode === RCODE.NXDOMAIN;
}

/** Asks servers whether they have validated their answers: later clients may want to know. */
function withAuthenticData(query: Query): Query {
  if (query.header.opcode !== OPCODE.QUERY) return query;
  return query.with({ header: { ...query.header, authenticData: true } });
}
