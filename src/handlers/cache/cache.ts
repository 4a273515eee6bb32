/**
 * Keeps answers of the handlers behind it, as plugin/cache of CoreDNS 1.14.7 does: one TTL for all records of an answer, its own
 * bounds for answers with records and for denials, stale answers and prefetching where they are asked for.
 */
import type { Clock } from '../../base/clock.ts';
import type { Answer, WholeAnswer } from '../../chain/answer.ts';
import type { Handler, Next } from '../../chain/handler.ts';
import { isWithinAny, namesWithin } from '../../chain/match.ts';
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { Query } from '../../chain/query.ts';
import { replyOf } from '../../chain/response.ts';
import type { TableWriter } from '../../table/writer.ts';
import { type NameKey, RCODE, type ResourceRecord } from '../../wire/types.ts';
import { CacheCounts, type CacheKind } from './cache-counts.ts';
import { type CacheItem, CacheStore, type FoundAnswer } from './cache-store.ts';
import { answersQuestion, classify, lifetimeOf, mayKeep } from './classify.ts';
import type { CacheOptions, CacheServeStale } from './options.ts';

export interface CacheDependencies {
  readonly clock: Clock;
  readonly table: TableWriter;
  readonly metrics: PluginMetrics;
}

/** CoreDNS spreads entries over so many shards, each of at least so many. */
const [SHARDS, MIN_PER_SHARD] = [256, 4];

/** What an answer was found by. */
interface Hit extends FoundAnswer {
  readonly kind: CacheKind;
  /** Seconds that it has left; none or less: it is stale. */
  readonly left: number;
}

export class Cache {
  readonly handler: Handler;
  readonly #options: CacheOptions;
  readonly #clock: Clock;
  readonly #stores: Readonly<Record<CacheKind, CacheStore>>;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #uncached: Readonly<Record<CacheKind, ReadonlySet<NameKey>>>;
  readonly #counts: CacheCounts;

  constructor(options: CacheOptions, { clock, table, metrics }: CacheDependencies) {
    this.#options = options;
    this.#clock = clock;
    this.#counts = new CacheCounts(metrics, options.zones);
    const capacityOf = (capacity: number) => SHARDS * Math.max(MIN_PER_SHARD, Math.floor(capacity / SHARDS));
    this.#stores = {
      success: new CacheStore(table, capacityOf(options.success.capacity)),
      denial: new CacheStore(table, capacityOf(options.denial.capacity)),
    };
    this.#zones = new Set(options.zones);
    this.#uncached = {
      success: new Set(options.uncachedSuccess),
      denial: new Set(options.uncachedDenial),
    };
    this.handler = {
      name: 'cache',
      role: 'cache',
      questions: namesWithin(this.#zones),
      answers: 'unchanged',
      handle: (query, next) =>
        isWithinAny(query.key, this.#zones) ? this.#handle(query, next) : next(query),
    };
  }

  stop(): void {
    for (const store of Object.values(this.#stores)) store.close();
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    query.forbidStoring();
    this.#counts.requested(query);
    const hit = this.#find(query);
    if (hit === undefined) {
      this.#counts.missed(query);
      return await this.#fetch(query, next);
    }
    this.#counts.hit(query, hit.kind);
    if (hit.left <= 0) return await this.#answerStale(query, hit, next);
    if (this.#isDue(hit)) this.#prefetch(query, hit, next, false);
    return this.#present(query, hit.answer, this.#options.keepTtl ? hit.item.ttl : hit.left);
  }

  #find(query: Query): Hit | undefined {
    const { serveStale } = this.#options;
    const positive = () => this.#findIn('success', query);
    if (serveStale?.prefersPositive === true) {
      const found = positive();
      if (found !== undefined && answersQuestion(query.question, found.answer.answers)) return found;
    }
    const negative = this.#findIn('denial', query);
    // A failure passes: a good answer that is still there is better.
    if (negative?.answer.rcode === RCODE.SERVFAIL) return positive() ?? negative;
    return negative ?? positive();
  }

  #findIn(kind: CacheKind, query: Query): Hit | undefined {
    const { serveStale } = this.#options;
    const found = this.#stores[kind].find(query.questionKey);
    if (found === undefined) return undefined;
    const left = found.item.ttl - Math.floor((this.#clock.monotonic() - found.item.storedAt) / 1000);
    const isUsable = left > 0 || (serveStale !== undefined && -left < serveStale.duration / 1000);
    return isUsable ? { ...found, kind, left } : undefined;
  }

  /** @returns what the handlers behind say, with the TTLs that it is kept with */
  async #fetch(query: Query, next: Next, isOurs = false): Promise<Answer> {
    const answer = await next(withAuthenticData(query));
    const whole = wholeOf(answer);
    if (whole === undefined) return answer;
    return this.#keep(query, whole, isOurs);
  }

  #keep(query: Query, answer: WholeAnswer, isOurs: boolean): WholeAnswer {
    const answerClass = classify(query, answer, Math.floor(this.#clock.now() / 1000));
    const ttl = lifetimeOf(answer, answerClass, this.#options);
    const told = withTtl(answer, ttl);
    if (ttl > 0 && mayKeep(query, answer, answerClass)) {
      const kind = answerClass === 'success' || answerClass === 'delegation' ? 'success' : 'denial';
      if (!isWithinAny(query.key, this.#uncached[kind])) {
        const evicted = this.#stores[kind].put(query.questionKey, told, ttl, this.#clock.monotonic());
        if (evicted) this.#counts.evicted(query, kind);
        this.#counts.show(query, { success: this.#stores.success.size, denial: this.#stores.denial.size });
        const prefersPositive = this.#options.serveStale?.prefersPositive === true;
        const replaces = prefersPositive ? answersQuestion(query.question, answer.answers) : isOurs;
        if (kind === 'success' && replaces) this.#stores.denial.remove(query.questionKey);
      }
    }
    return { ...told, authenticData: told.authenticData && wantsAuthenticData(query) };
  }

  #present(query: Query, answer: WholeAnswer, ttl: number): WholeAnswer {
    return { ...withTtl(answer, ttl), authenticData: answer.authenticData && wantsAuthenticData(query) };
  }

  async #answerStale(query: Query, hit: Hit, next: Next): Promise<Answer> {
    const { serveStale } = this.#options;
    if (serveStale === undefined) return await this.#fetch(query, next);
    if (serveStale.refresh === 'verify') {
      const fresh = await this.#verify(query, hit.item, next, serveStale);
      if (fresh !== undefined) return fresh;
    } else this.#prefetch(query, hit, next, true);
    this.#counts.servedStale(query);
    return this.#present(query, hit.answer, serveStale.ttl);
  }

  /** Asks anew before a stale answer is given. @returns nothing if that failed, or took too long */
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
    // What comes in time is told as it was kept.
    return await new Promise<Answer | undefined>((resolve) => {
      const timer = this.#clock.after(verifyTimeout, () => resolve(undefined));
      const end = (answer: Answer | undefined) => {
        timer.cancel();
        const isKept = answer?.kind === 'message' && this.#itemOf(query)?.storedAt !== item.storedAt;
        resolve(isKept ? { ...answer, authoritative: true } : answer);
      };
      refreshed.then(end, () => end(undefined));
    });
  }

  /** @returns nothing if the answer must not replace an older one (RFC 8767 section 4) */
  async #refresh(query: Query, next: Next, isOurs = false): Promise<Answer | undefined> {
    const answer = await next(withAuthenticData(query));
    const whole = wholeOf(answer);
    if (whole === undefined || whole.truncated) return undefined;
    if (this.#options.serveStale?.prefersPositive === true) {
      const told = this.#keep(query, whole, isOurs);
      return whole.rcode === RCODE.NOERROR && answersQuestion(query.question, whole.answers)
        ? told
        : undefined;
    }
    const isFresh =
      classify(query, whole, Math.floor(this.#clock.now() / 1000)) !== 'none' &&
      (whole.rcode === RCODE.NOERROR || whole.rcode === RCODE.NXDOMAIN);
    return isFresh ? this.#keep(query, whole, isOurs) : undefined;
  }

  /** Counts a hit. @returns whether the name is asked for often, and its answer near its end */
  #isDue({ item, left }: Hit): boolean {
    const { prefetch } = this.#options;
    if (prefetch === undefined) return false;
    const now = this.#clock.monotonic();
    item.hits = now - item.lastHit > prefetch.duration ? 1 : item.hits + 1;
    item.lastHit = now;
    return item.hits >= prefetch.amount && left <= Math.ceil((prefetch.percentage / 100) * item.ttl);
  }

  /** Asks anew behind the answer; one such attempt is under way for an entry. */
  #prefetch(query: Query, { item }: Hit, next: Next, isStale: boolean): void {
    if (!this.#mayRefresh(item)) return;
    item.isRefreshing = true;
    this.#counts.prefetched(query);
    const { hits, lastHit } = item;
    const own = query.forOurselves();
    const refresh = isStale ? this.#refresh(own, next, true) : this.#fetch(own, next, true);
    const end = (answer: Answer | undefined) => {
      this.#endRefresh(item, answer !== undefined);
      const fresh = answer === undefined ? undefined : this.#itemOf(query);
      if (fresh !== undefined) Object.assign(fresh, { hits, lastHit });
    };
    refresh.then(end, () => end(undefined));
  }

  #itemOf(query: Query): CacheItem | undefined {
    const { success, denial } = this.#stores;
    return (denial.find(query.questionKey) ?? success.find(query.questionKey))?.item;
  }

  #mayRefresh(item: CacheItem): boolean {
    return !item.isRefreshing && this.#clock.monotonic() >= item.retryAt;
  }

  #endRefresh(item: CacheItem, isRefreshed: boolean): void {
    const recheck = this.#options.serveStale?.recheck ?? 0;
    item.isRefreshing = false;
    item.retryAt = isRefreshed ? Number.NEGATIVE_INFINITY : this.#clock.monotonic() + recheck;
  }
}

/** An answer of any kind as it would be sent; nothing for a failure, of which nothing is kept. */
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

/** Servers are asked whether they have validated their answers, since others may want to know. */
function withAuthenticData(query: Query): Query {
  return query.with({ header: { ...query.header, authenticData: true } });
}

/** RFC 6840 section 5.8. */
function wantsAuthenticData({ header, edns }: Query): boolean {
  return header.authenticData || edns?.dnssecOk === true;
}
