/**
 * The end of a block of our own front ends: a cache, and the resolver behind it.
 */
import type { Answer } from '../../src/chain/answer.ts';
import { PluginMetrics } from '../../src/chain/plugin-metrics.ts';
import type { Query } from '../../src/chain/query.ts';
import type { ReaderPath } from '../../src/forward/reader-path/reader-path.ts';
import { Cache } from '../../src/plugins/cache/cache.ts';
import type { OwnRules } from '../../src/plugins/cache/options.ts';
import type { OwnAnswers } from '../../src/plugins/cache/own-answers.ts';
import {
  Resolver,
  type ResolverDependencies,
  type ResolverSettings,
} from '../../src/plugins/resolver/resolver.ts';

export interface CachedResolverSettings extends ResolverSettings {
  readonly cache: OwnRules;
}

export class CachedResolver {
  readonly #dependencies: Omit<ResolverDependencies, 'cache'>;
  readonly #resolver: Resolver;
  #readerPath: ReaderPath | undefined;
  #cache: Cache;

  constructor(
    { cache, ...settings }: CachedResolverSettings,
    dependencies: Omit<ResolverDependencies, 'cache'>,
  ) {
    this.#dependencies = dependencies;
    this.#cache = this.#makeCache(cache);
    this.#resolver = new Resolver(settings, { ...dependencies, cache: this.#own });
  }

  get #own(): OwnAnswers {
    if (this.#cache.own === undefined) throw new Error('rules of another kind');
    return this.#cache.own;
  }

  #makeCache(rules: OwnRules, former?: Cache): Cache {
    const { table, clock } = this.#dependencies;
    const dependencies = {
      ...{ table, clock, metrics: new PluginMetrics(), isStrict: false, handlerNames: () => [] },
      readerPath: { noteGeneration: () => this.#readerPath?.noteGeneration() },
      chain: (query: Query) => this.answer(query),
    };
    return new Cache(rules, dependencies, former);
  }

  answer(query: Query): Answer | Promise<Answer> {
    return this.#cache.handler.handle(query, (behind) => this.#resolver.answer(behind));
  }

  openRoute(path: ReaderPath, options: Parameters<Resolver['openRoute']>[1]): number {
    this.#readerPath = path;
    this.#resolver.openRoute(path, options);
    return this.#resolver.route;
  }

  start(): void {
    this.#resolver.start();
    this.#cache.serving();
  }

  /** Another plan is in force. */
  change({ cache, ...settings }: CachedResolverSettings): void {
    const former = this.#cache;
    this.#cache = this.#makeCache(cache, former);
    this.#cache.follow();
    this.#resolver.change(settings);
    this.#cache.serving();
    former.stop();
  }

  stats(): ReturnType<Resolver['stats']> {
    return this.#resolver.stats();
  }

  stop(): void {
    this.#resolver.stop();
    this.#cache.stop();
  }
}
