/**
 * Caches answers of the handlers behind it, as plugin/cache of CoreDNS 1.14.7 does. All records of an answer have one TTL;
 * answers with records and denials have separate bounds. Stale answers and prefetching are optional.
 */
import type { Clock } from '../../base/clock.ts';
import type { Answer, WholeAnswer } from '../../chain/answer.ts';
import { messageFromEntry } from '../../chain/cached-reply.ts';
import { type AnswerKeeper, type HandedAnswer, readHanded } from '../../chain/handed-answer.ts';
import type { Chain, Handler, KeptReplies, Next } from '../../chain/handler.ts';
import type { Look } from '../../chain/look.ts';
import { isWithinAny, namesWithin } from '../../chain/match.ts';
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import { Prefetching } from '../../chain/prefetching.ts';
import { type Dependence, OURSELVES, Query, type QuerySite } from '../../chain/query.ts';
import { replyOf } from '../../chain/response.ts';
import type { QuestionKey } from '../../forward/question-key.ts';
import { questionOfFill } from '../../forward/reader-path/fill-question.ts';
import type { FillConsumer } from '../../forward/reader-path/fill-ring.ts';
import { cutBody } from '../../table/cut-body.ts';
import type { TableWriter } from '../../table/writer.ts';
import { extendedErrorOfCached } from '../../wire/extended-error.ts';
import { decodeMessage } from '../../wire/message.ts';
import { MAX_MESSAGE_OCTETS, MAX_UDP_SIZE } from '../../wire/response-size.ts';
import { type Message, type NameKey, OPCODE, RCODE, type ResourceRecord } from '../../wire/types.ts';
import { CACHE_KINDS, CacheCounts, type CacheKind } from './cache-counts.ts';
import { type CacheItem, CacheStore, type FoundAnswer } from './cache-store.ts';
import { answersQuestion, classify, lifetimeOf, mayKeep } from './classify.ts';
import type { CacheOptions, CachePrefetch, CacheServeStale } from './options.ts';

export interface CacheDependencies {
  readonly clock: Clock;
  readonly table: TableWriter;
  readonly metrics: PluginMetrics;
  /** The handlers behind the cache; undefined: it refreshes nothing by itself. */
  readonly behind?: Chain;
  /** Whether clients get any UDP size that they offer, and no extended errors of cached answers, as in CoreDNS. */
  readonly isStrict: boolean;
  /** The names of the handlers of the block, in order. */
  readonly handlerNames: () => readonly string[];
}

/** Number of shards in CoreDNS, and minimum capacity of each. */
const [SHARDS, MIN_PER_SHARD] = [256, 4];

/** An answer of the handlers behind. `isKept`: it is in the cache now. */
interface Fetched {
  readonly answer: Answer;
  readonly isKept: boolean;
}

/** A cached answer found for a question. */
interface Hit extends FoundAnswer {
  readonly kind: CacheKind;
  /** Seconds that it has left; 0 or less: it is stale. */
  readonly left: number;
}

export class Cache implements AnswerKeeper {
  readonly handler: Handler;
  readonly options: CacheOptions;
  readonly #clock: Clock;
  readonly #store: CacheStore;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #uncached: Readonly<Record<CacheKind, ReadonlySet<NameKey>>>;
  readonly #counts: CacheCounts;
  /** Sites that answers were cached for, by server. */
  readonly #sites = new Map<string, QuerySite>();
  #lastSite: QuerySite | undefined;
  readonly #endCollecting: () => void;
  /** Undefined: answers are refreshed only when a query finds them due. */
  readonly #prefetching: Prefetching | undefined;
  readonly #isStrict: boolean;
  readonly #maxUdpSize: number;
  readonly #handlerNames: () => readonly string[];
  /** Whether sets of addresses start at a random one; undefined until the block is complete. */
  #rotates: boolean | undefined;
  #isStopped = false;

  /** @param former another cache whose entries it takes over */
  constructor(options: CacheOptions, dependencies: CacheDependencies, former?: Cache) {
    const { clock, table, metrics } = dependencies;
    this.options = options;
    this.#isStrict = dependencies.isStrict;
    this.#maxUdpSize = dependencies.isStrict ? MAX_MESSAGE_OCTETS : MAX_UDP_SIZE;
    this.#handlerNames = dependencies.handlerNames;
    this.#clock = clock;
    this.#counts = new CacheCounts(metrics, options.zones);
    this.#endCollecting = metrics.collectBy(() => this.#showSizes());
    const capacityOf = (capacity: number) => SHARDS * Math.max(MIN_PER_SHARD, Math.floor(capacity / SHARDS));
    const [success, denial] = [capacityOf(options.success.capacity), capacityOf(options.denial.capacity)];
    this.#store =
      former === undefined
        ? new CacheStore(table, {
            capacity: { success, denial },
            keepsTtl: options.keepTtl,
            since: clock.monotonic(),
          })
        : former.#store.retain();
    this.#zones = new Set(options.zones);
    this.#uncached = {
      success: new Set(options.uncachedSuccess),
      denial: new Set(options.uncachedDenial),
    };
    this.#prefetching = this.#makePrefetching(dependencies);
    this.handler = {
      name: 'cache',
      role: 'cache',
      view: this.#store.shared,
      hits: this.#counts.hits,
      passing: this.#counts.passing,
      forwardedIn: (zone) => this.#forwardedIn(zone),
      questions: namesWithin(this.#zones),
      answers: 'unchanged',
      handle: (query, next) =>
        isWithinAny(query.key, this.#zones) ? this.#handle(query, next) : next(query),
    };
  }

  /** Hands entries to the process that takes over. */
  get keeper(): AnswerKeeper {
    return this;
  }

  *handOver(isUsed: boolean): Iterable<HandedAnswer> {
    for (const [kind, name] of CACHE_KINDS.entries())
      for (const { item, entry } of this.#store.stored(name)) {
        if ((entry.used || item.hits > 0) !== isUsed) continue;
        const { dnssecOk, checkingDisabled } = entry;
        const age = Math.max(0, Math.floor((this.#now() - item.storedAt) / 1000));
        const message = messageFromEntry(entry);
        yield { kind, dnssecOk, checkingDisabled, age, lifetime: item.ttl, message };
      }
  }

  adopt(answer: HandedAnswer): void {
    const kind = CACHE_KINDS[answer.kind];
    if (kind === undefined) return;
    const { key, message } = readHanded(answer);
    const now = this.#clock.monotonic() - answer.age * 1000;
    this.#store.put(kind, key, wholeOfMessage(message), this.#lifetimeOf(kind, key, answer.lifetime, now));
  }

  /** Queries are received now. */
  serving(): void {
    this.#prefetching?.start();
  }

  /** Drops the answers for a name and all names below it. */
  forget(domain: NameKey): void {
    this.#store.removeWithin(domain);
  }

  stop(): void {
    this.#prefetching?.stop();
    if (!this.#isStopped) this.#store.release();
    this.#endCollecting();
    this.#isStopped = true;
  }

  #makePrefetching({ clock, table, behind }: CacheDependencies): Prefetching | undefined {
    if (this.options.refreshesUsed !== true || behind === undefined) return undefined;
    const view = this.#store.shared;
    return new Prefetching({
      table: { scanCached: (from, max, isDue) => table.scanCached(from, max, isDue, view) },
      refresh: async (query) => {
        this.#counts.prefetched(query);
        await this.#refresh(query, behind, true);
      },
      site: () => this.#lastSite,
      isWanted: () => true,
      clock,
    });
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    if (query.look !== undefined) return await this.#look(query, query.look, next);
    const before = query.dependence;
    this.#counts.requested(query);
    const hit = this.#find(query);
    if (hit === undefined) {
      this.#counts.missed(query);
      const { answer, isKept } = await this.#fetch(query, next);
      this.#noteFirst(query, before, answer, isKept);
      return answer;
    }
    this.#counts.hit(query, hit.kind);
    if (hit.left <= 0) {
      query.forbidStoring();
      return await this.#answerStale(query, hit, next);
    }
    if (this.#isDue(hit)) this.#prefetch(query, hit, next, false);
    this.#store.share(hit.kind, query.questionKey, hit.item, this.#readSecondsOf(hit.item));
    this.#noteKept(query, before, hit);
    const cached = this.#present(query, hit.answer, this.options.keepTtl ? hit.item.ttl : hit.left);
    return { ...cached, extendedError: extendedErrorOfCached(cached.rcode, false) };
  }

  /** Gives an answer as it is stored: it is not refreshed, and its popularity does not change. */
  async #look(query: Query, look: Look, next: Next): Promise<Answer> {
    const hit = look.passesCaches ? undefined : this.#find(query);
    if (hit === undefined) return await next(query);
    look.foundEntry({ name: query.key, age: hit.item.ttl - hit.left, left: hit.left });
    return this.#present(query, hit.answer, Math.max(0, hit.left));
  }

  #find(query: Query): Hit | undefined {
    const { serveStale } = this.options;
    const positive = () => this.#findIn('success', query);
    if (serveStale?.prefersPositive === true) {
      const found = positive();
      if (found !== undefined && answersQuestion(query.question, found.answer.answers)) return found;
    }
    const negative = this.#findIn('denial', query);
    // Failures are temporary: prefer a good answer that is still cached.
    if (negative?.answer.rcode === RCODE.SERVFAIL) return positive() ?? negative;
    return negative ?? positive();
  }

  #findIn(kind: CacheKind, query: Query): Hit | undefined {
    const { serveStale } = this.options;
    const room = query.roomFor(this.#maxUdpSize);
    const found = this.#store.find(kind, query.questionKey, (body) => cutBody(body, room, this.#pick()));
    if (found === undefined) return undefined;
    const left = found.item.ttl - Math.floor((this.#now() - found.item.storedAt) / 1000);
    const isUsable = left > 0 || (serveStale !== undefined && -left < serveStale.duration / 1000);
    return isUsable ? { ...found, kind, left } : undefined;
  }

  /** How a cut set of addresses is rotated, as `loadbalance` would if it saw all of them. */
  #pick(): ((count: number) => number) | undefined {
    this.#rotates ??= this.#handlerNames().includes('loadbalance');
    return this.#rotates ? (count) => Math.floor(Math.random() * count) : undefined;
  }

  /** @returns the answer of the handlers behind, with the TTLs that it is cached with */
  async #fetch(query: Query, next: Next, isOurs = false): Promise<Fetched> {
    const answer = await next(withAuthenticData(query));
    const whole = wholeOf(answer);
    return whole === undefined ? { answer, isKept: false } : this.#keep(query, whole, isOurs);
  }

  #keep(query: Query, answer: WholeAnswer, isOurs: boolean): Fetched & { readonly answer: WholeAnswer } {
    const answerClass = classify(query, answer, Math.floor(this.#clock.now() / 1000));
    const ttl = lifetimeOf(answer, answerClass, this.options);
    const told = withTtl(this.#withoutEdns(answer), ttl);
    const presented = { ...told, authenticData: told.authenticData && wantsAuthenticData(query) };
    if (ttl <= 0 || !mayKeep(query, answer, answerClass)) return { answer: presented, isKept: false };
    const kind = answerClass === 'success' || answerClass === 'delegation' ? 'success' : 'denial';
    if (isWithinAny(query.key, this.#uncached[kind])) return { answer: presented, isKept: false };
    this.#put(query, kind, told, ttl);
    const prefersPositive = this.options.serveStale?.prefersPositive === true;
    const replaces = prefersPositive ? answersQuestion(query.question, answer.answers) : isOurs;
    if (kind === 'success' && replaces) this.#store.remove('denial', query.questionKey);
    return { answer: presented, isKept: true };
  }

  /** The OPT record concerns one hop, so CoreDNS drops it. Without `-compat` its extended errors are kept. */
  #withoutEdns(answer: WholeAnswer): WholeAnswer {
    const { edns: _, passedErrors, ...others } = answer;
    return this.#isStrict || passedErrors === undefined ? others : { ...others, passedErrors };
  }

  /** Readers give it at once, unless the question has an answer of the other kind, which may come before it. */
  #put(query: Query, kind: CacheKind, answer: WholeAnswer, ttl: number): void {
    const key = query.questionKey;
    const lifetime = this.#lifetimeOf(kind, key, ttl, this.#clock.monotonic());
    const stored = this.#store.put(kind, key, answer, lifetime);
    if (stored === 'evicted') this.#counts.evicted(query.site, kind);
    this.#noteSite(query.site);
  }

  /** @param now when it is stored */
  #lifetimeOf(kind: CacheKind, key: QuestionKey, ttl: number, now: number) {
    const isOnly = !this.#store.has(kind === 'success' ? 'denial' : 'success', key);
    return { ttl, readSeconds: isOnly && this.options.prefetch === undefined ? ttl : 0, now };
  }

  #noteSite(site: QuerySite): void {
    if (site === this.#lastSite) return;
    this.#lastSite = site;
    this.#sites.set(site.server, site);
  }

  #showSizes(): void {
    const [success, denial] = [this.#store.sizeOf('success'), this.#store.sizeOf('denial')];
    for (const site of this.#sites.values()) this.#counts.show(site, { success, denial });
    this.#counts.showEvictions();
  }

  /** Seconds for which readers give an answer after it was stored. This cache itself answers once a refresh is due. */
  #readSecondsOf({ hits, ttl }: CacheItem): number {
    const { prefetch } = this.options;
    if (prefetch === undefined) return ttl;
    return hits < prefetch.amount ? 0 : ttl - dueSecondsOf(prefetch, ttl);
  }

  /** The flags of the first answer differ from those of later ones. */
  #noteFirst(query: Query, before: Dependence, answer: Answer, isKept: boolean): void {
    if (!isKept && mayRepeat(answer)) {
      query.keptNothing();
      return;
    }
    const hit = isKept && query.isComposed ? this.#find(query) : undefined;
    if (hit === undefined || hit.left <= 0 || this.options.keepTtl) query.forbidStoring();
    else this.#noteComposed(query, before, hit);
  }

  #noteComposed(query: Query, before: Dependence, { kind, item }: Hit): void {
    this.#store.share(kind, query.questionKey, item, this.#readSecondsOf(item));
    if (item.isShared)
      query.answeredFirst(
        before,
        { until: this.#endOfReading(item) },
        this.handler.name,
        this.#counts.later(kind),
      );
    else query.forbidStoring();
  }

  /** Answers that earlier handlers make from this one may be stored for as long as readers give this one. */
  #noteKept(query: Query, before: Dependence, { item }: Hit): void {
    if (item.isShared && !this.options.keepTtl)
      query.answeredFromCache(before, { until: this.#endOfReading(item) });
    else query.forbidStoring();
  }

  /** Milliseconds of the monotonic clock. */
  #endOfReading(item: CacheItem): number {
    return this.#store.since + item.storedAt + this.#readSecondsOf(item) * 1000;
  }

  /** With `prefetch`, the cache must see each question for a new answer, to count its popularity. */
  #forwardedIn(zone: NameKey): KeptReplies | undefined {
    const { success, denial, serveStale, prefetch, keepTtl } = this.options;
    if (!isWithinAny(zone, this.#zones)) return undefined;
    return {
      caching: { success, denial, countsHits: prefetch !== undefined },
      view: keepTtl ? undefined : this.#store.shared,
      servesStale: serveStale !== undefined,
      exceptions: [...this.#uncached.success, ...this.#uncached.denial],
      keep: (reply, site, isEncoded) => this.#keepReply(reply, site, isEncoded),
    };
  }

  #keepReply(reply: FillConsumer, site: QuerySite, isEncoded: boolean): void {
    const kind: CacheKind = reply.authorities > 0 ? 'denial' : 'success';
    const uncached = this.#uncached[kind];
    if (uncached.size > 0 && isWithinAny(questionOfFill(reply).name, uncached)) return;
    const now = this.#clock.monotonic();
    const stored =
      isEncoded && this.options.serveStale?.prefersPositive !== true
        ? this.#store.putEncoded(kind, reply, { isHeld: this.options.prefetch !== undefined, now })
        : 'refused';
    if (stored === 'refused') this.#keepMessage(questionOfFill(reply), reply, site);
    else if (stored === 'evicted') this.#counts.evicted(site, kind);
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
    this.#keep(query, wholeOfMessage(message), false);
  }

  #present(query: Query, answer: WholeAnswer, ttl: number): WholeAnswer {
    return { ...withTtl(answer, ttl), authenticData: answer.authenticData && wantsAuthenticData(query) };
  }

  async #answerStale(query: Query, hit: Hit, next: Next): Promise<Answer> {
    const { serveStale } = this.options;
    if (serveStale === undefined) return (await this.#fetch(query, next)).answer;
    if (serveStale.refresh === 'verify') {
      const fresh = await this.#verify(query, hit.item, next, serveStale);
      if (fresh !== undefined) return fresh;
    } else this.#prefetch(query, hit, next, true);
    this.#counts.servedStale(query);
    const stale = this.#present(query, hit.answer, serveStale.ttl);
    return { ...stale, extendedError: extendedErrorOfCached(stale.rcode, true) };
  }

  /** Asks again before a stale answer is given. @returns undefined if that failed, or took too long */
  async #verify(
    query: Query,
    item: CacheItem,
    next: Next,
    { recheck, verifyTimeout }: CacheServeStale,
  ): Promise<Answer | undefined> {
    if (recheck > 0 && !this.#mayRefresh(item)) return undefined;
    if (recheck > 0) item.isRefreshing = true;
    const refreshed = this.#refresh(query, next).then((answer) => {
      if (recheck > 0) this.#endRefresh(item, answer !== undefined);
      return answer;
    });
    if (verifyTimeout === undefined) return await refreshed;
    // An answer in time is given as it was cached.
    return await new Promise<Answer | undefined>((resolve) => {
      const timer = this.#clock.after(verifyTimeout, () => resolve(undefined));
      const end = (answer: Answer | undefined) => {
        timer.cancel();
        const isKept = answer?.kind === 'message' && this.#itemOf(query) !== item;
        resolve(isKept ? { ...answer, authoritative: true } : answer);
      };
      refreshed.then(end, () => end(undefined));
    });
  }

  /** @returns undefined if the answer must not replace an older one (RFC 8767 section 4) */
  async #refresh(query: Query, next: Next, isOurs = false): Promise<Answer | undefined> {
    const answer = await next(withAuthenticData(query));
    const whole = wholeOf(answer);
    if (whole === undefined || whole.truncated) return undefined;
    if (this.options.serveStale?.prefersPositive === true) {
      const told = this.#keep(query, whole, isOurs).answer;
      return whole.rcode === RCODE.NOERROR && answersQuestion(query.question, whole.answers)
        ? told
        : undefined;
    }
    const isFresh =
      classify(query, whole, Math.floor(this.#clock.now() / 1000)) !== 'none' &&
      (whole.rcode === RCODE.NOERROR || whole.rcode === RCODE.NXDOMAIN);
    return isFresh ? this.#keep(query, whole, isOurs).answer : undefined;
  }

  /** Counts a hit. @returns whether the answer is popular and near its end */
  #isDue({ item, left, wasRead }: Hit): boolean {
    const { prefetch } = this.options;
    if (prefetch === undefined) return false;
    const now = this.#now();
    // An answer that readers have given was asked for recently.
    item.hits = now - item.lastHit > prefetch.duration && !wasRead ? 1 : item.hits + 1;
    item.lastHit = now;
    return item.hits >= prefetch.amount && left <= dueSecondsOf(prefetch, item.ttl);
  }

  /** Asks again in the background; an entry has at most one such attempt in flight. */
  #prefetch(query: Query, { item }: Hit, next: Next, isStale: boolean): void {
    if (!this.#mayRefresh(item)) return;
    item.isRefreshing = true;
    this.#counts.prefetched(query);
    const { hits, lastHit } = item;
    const own = query.forOurselves();
    const refresh = isStale
      ? this.#refresh(own, next, true)
      : this.#fetch(own, next, true).then(({ answer }) => answer);
    const end = (answer: Answer | undefined) => {
      this.#endRefresh(item, answer !== undefined);
      const fresh = answer === undefined ? undefined : this.#find(query);
      if (fresh === undefined) return;
      Object.assign(fresh.item, { hits, lastHit });
      this.#store.share(fresh.kind, query.questionKey, fresh.item, this.#readSecondsOf(fresh.item));
    };
    refresh.then(end, () => end(undefined));
  }

  #itemOf(query: Query): CacheItem | undefined {
    const find = (kind: CacheKind) => this.#store.find(kind, query.questionKey);
    return (find('denial') ?? find('success'))?.item;
  }

  /** The current time, in the unit of items. */
  #now(): number {
    return Math.floor(this.#clock.monotonic() - this.#store.since);
  }

  #mayRefresh(item: CacheItem): boolean {
    return !item.isRefreshing && this.#now() >= item.retryAt;
  }

  #endRefresh(item: CacheItem, isRefreshed: boolean): void {
    const recheck = this.options.serveStale?.recheck ?? 0;
    item.isRefreshing = false;
    item.retryAt = this.#now() + (isRefreshed ? 0 : recheck);
  }
}

/** When a popular answer is refreshed: seconds before its end. */
function dueSecondsOf({ percentage }: CachePrefetch, ttl: number): number {
  return Math.ceil((percentage / 100) * ttl);
}

/** An answer of any kind as it would be sent; undefined for failures that are not cached. */
function wholeOf(answer: Answer): WholeAnswer | undefined {
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
      const { rcode = RCODE.NOERROR, authoritative = false, truncated = false, ...reply } = replyOf(answer);
      const { authenticData = false, answers = [], authorities = [], additionals = [] } = reply;
      return {
        kind: 'message',
        ...{ rcode, authoritative, truncated, recursionAvailable: false, authenticData },
        ...{ answers, authorities, additionals },
      };
    }
  }
}

function wholeOfMessage({ header, answers, authorities, additionals }: Message): WholeAnswer {
  const { rcode, authoritative, truncated, recursionAvailable, authenticData } = header;
  return {
    kind: 'message',
    ...{ rcode, authoritative, truncated, recursionAvailable, authenticData },
    ...{ answers, authorities, additionals },
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

/** RFC 6840 section 5.8. */
function wantsAuthenticData({ header, edns }: Query): boolean {
  return header.authenticData || edns?.dnssecOk === true;
}
