/**
 * Caches answers of the handlers behind it, by rules that are data. Stale answers and prefetching are optional.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import type { AnswerKeeper } from '@portolan/kernel/chain/handover-answer.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { KEPT_REPLIES } from '@portolan/kernel/chain/reader-forwarding.ts';
import type { Plugin, PluginStats } from '@portolan/kernel/contract/plugin.ts';
import { toCachedQuestion } from '@portolan/kernel/forward/question-key.ts';
import { Answering } from './answering.ts';
import { boundTtls } from './bound-ttls.ts';
import type { CacheAnswers, FoundAnswer } from './cache-answers.ts';
import { CoreDnsAnswers, type CoreDnsAnswersDependencies } from './coredns-answers.ts';
import { NativeCache, type NativeCacheDependencies } from './native-cache.ts';
import type { CacheRules, NativeRules } from './options.ts';
import { Prefetching } from './prefetching.ts';

export interface CacheDependencies extends CoreDnsAnswersDependencies, NativeCacheDependencies {
  /** The whole chain of the block. Own rules prefetch by it: a handler before the cache may answer the name by now. */
  readonly chain?: Chain;
  /** The handlers behind the cache, by which rules of CoreDNS prefetch. */
  readonly behind?: Chain;
}

export class Cache implements Plugin {
  readonly handler: Handler;
  readonly rules: CacheRules;
  /** The answers by own rules, which outlive plans; undefined: those of CoreDNS apply. */
  readonly own: NativeCache | undefined;
  readonly #coreDns: CoreDnsAnswers | undefined;
  readonly #answering: Pick<Answering<FoundAnswer>, 'answer'>;
  /** Undefined: answers are refreshed only when a query finds them due. */
  readonly #prefetching: Prefetching | undefined;
  /** Queries of prefetching on their way through the chain. */
  readonly #refreshing = new WeakSet<Query>();

  /** @param former another cache, whose answers it takes over */
  constructor(rules: CacheRules, dependencies: CacheDependencies, former?: Cache) {
    const { clock, behind } = dependencies;
    this.rules = rules;
    if (rules.kind === 'own') {
      this.own = former?.own ?? new NativeCache(rules, dependencies);
      this.#answering = new Answering(this.own, clock);
      this.handler = this.#ownHandler(this.own, rules);
      this.#prefetching = this.#makePrefetching(dependencies, dependencies.chain);
    } else {
      this.#coreDns = new CoreDnsAnswers(
        rules,
        dependencies,
        former === undefined ? undefined : former.#coreDns,
      );
      this.#answering = new Answering(this.#coreDns, clock);
      const handler = this.#coreDns.createHandler((query, next) => this.#answer(query, next));
      this.handler = handler;
      this.#prefetching = this.#makePrefetching(
        dependencies,
        behind && ((query) => handler.handle(query, behind)),
      );
    }
  }

  #ownHandler(own: NativeCache, { maxTtl }: NativeRules): Handler {
    return {
      name: 'cache',
      role: 'other',
      // Readers look for cached answers behind all local names.
      questions: NO_QUESTIONS,
      answers: 'unchanged',
      offers: [KEPT_REPLIES.offer(() => (maxTtl === undefined ? own.keptReplies() : undefined))],
      handle: (query, next) => {
        query.forbidStoring();
        const answer = this.#answer(query, next);
        if (maxTtl === undefined) return answer;
        return answer instanceof Promise
          ? answer.then((late) => boundTtls(late, maxTtl))
          : boundTtls(answer, maxTtl);
      },
    };
  }

  get #answers(): CacheAnswers<FoundAnswer> | undefined {
    return this.own ?? this.#coreDns;
  }

  #answer(query: Query, next: Next): Answer | Promise<Answer> {
    return this.#refreshing.delete(query)
      ? this.#refreshed(query, next)
      : this.#answering.answer(query, next);
  }

  async #refreshed(query: Query, next: Next): Promise<Answer> {
    const refreshed = await this.#answers?.refresh(query, next, { isOurs: true, isStale: true });
    return refreshed?.answer ?? { kind: 'servfail' };
  }

  /** Hands answers to the process that takes over; undefined with a filter of types: its decisions depend on earlier questions. */
  get keeper(): AnswerKeeper | undefined {
    return this.rules.kind === 'own' && this.rules.cachedTypes !== undefined ? undefined : this.#answers;
  }

  follow(): void {
    if (this.rules.kind === 'own') this.own?.change(this.rules);
  }

  /** Queries are received now. */
  serving(): void {
    this.#prefetching?.start();
  }

  counts(): PluginStats {
    return this.own === undefined ? {} : { cache: this.own.counts() };
  }

  /** Drops the answers for a name and all names below it. */
  forget(domain: NameKey): void {
    this.#answers?.forget(domain);
  }

  stop(): void {
    this.#prefetching?.stop();
    this.#coreDns?.stop();
  }

  #makePrefetching({ clock, table }: CacheDependencies, chain: Chain | undefined): Prefetching | undefined {
    if (this.rules.refreshesUsed !== true || chain === undefined) return undefined;
    const view = this.#coreDns?.view;
    return new Prefetching({
      table: { scanCached: (from, max, isDue) => table.scanCached(from, max, isDue, view) },
      refresh: async (query) => {
        this.own?.notePrefetch();
        this.#refreshing.add(query);
        await chain(query);
        // A handler before the cache has answered.
        if (this.#refreshing.delete(query)) table.dropCached(toCachedQuestion(query.questionKey));
      },
      site: () => this.#coreDns?.site,
      clock,
    });
  }
}
