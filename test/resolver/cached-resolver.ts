/**
 * The end of a block of our own front ends: a cache, and the servers behind it.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, ReplyChanges } from '@portolan/kernel/chain/handler.ts';
import { RESOLVER_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { BlockRoutes } from '@portolan/kernel/engine/server-blocks/block-route.ts';
import type { ForwardPlan } from '@portolan/kernel/forward/forward-plan.ts';
import { ForwardTally } from '@portolan/kernel/forward/forward-tally.ts';
import { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { Cache } from '@portolan/plugins/cache/cache.ts';
import type { NativeRules } from '@portolan/plugins/cache/options.ts';
import type { FilteredTypes } from '@portolan/plugins/forward/filtered-types.ts';
import { Forward } from '@portolan/plugins/forward/forward.ts';
import { planRoute } from '@portolan/plugins/forward/options.ts';
import type { RouteDependencies } from '@portolan/plugins/forward/route.ts';

export interface CachedResolverSettings {
  readonly forward: ForwardPlan;
  readonly cache: NativeRules;
  readonly filteredTypes: FilteredTypes;
  /** Default: replies stay as they are. */
  readonly replies?: ReplyChanges;
}

export interface CachedResolverDependencies
  extends Pick<RouteDependencies, 'clock' | 'log' | 'resolveName' | 'connect' | 'random'> {
  readonly table: TableWriter;
}

export class CachedResolver {
  readonly readerPath: ReaderPath;
  readonly #dependencies: CachedResolverDependencies;
  readonly #tally = new ForwardTally();
  #cache: Cache;
  #forward: Forward;

  constructor(settings: CachedResolverSettings, dependencies: CachedResolverDependencies) {
    this.#dependencies = dependencies;
    this.readerPath = new ReaderPath(1, dependencies.clock);
    this.#cache = this.#makeCache(settings.cache);
    this.#forward = this.#makeForward(settings);
  }

  #makeCache(rules: NativeRules, former?: Cache): Cache {
    const { table, clock } = this.#dependencies;
    const dependencies = {
      table,
      clock,
      metrics: new MetricRegistry(),
      restored: NOTHING_RESTORED,
      rotates: () => false,
      readerPath: this.readerPath,
      chain: (query: Query) => this.answer(query),
    };
    return new Cache(rules, dependencies, former);
  }

  #makeForward({ forward: plan, filteredTypes, replies }: CachedResolverSettings, former?: Forward): Forward {
    const { clock, log, random, resolveName, connect } = this.#dependencies;
    const { readerPath } = this;
    const forward = new Forward(
      { routes: [planRoute(plan, filteredTypes)] },
      {
        clock,
        log,
        resolveName,
        connect,
        readerPath,
        forwardTally: this.#tally,
        metrics: new MetricRegistry(),
        restored: NOTHING_RESTORED,
        cache: this.#cache.own,
        replies: () => replies,
        ...(random && { random }),
      },
      former,
    );
    void forward.start();
    return forward;
  }

  get #handlers(): readonly Handler[] {
    return [this.#cache.handler, this.#forward.handler];
  }

  answer(query: Query): Answer | Promise<Answer> {
    const refused = () => ({ kind: 'refused' }) as const;
    return this.#cache.handler.handle(query, (behind) => this.#forward.handler.handle(behind, refused));
  }

  /** @returns the number of the route by which readers forward */
  openRoute(): number {
    const { answered } = RESOLVER_OUTCOME;
    const outcomes = {
      forwarded: 0,
      byPath: false,
      kept: { positive: answered, negative: answered },
      repeated: { positive: answered, negative: answered },
    };
    const zone = { server: '', zone: ROOT, view: '', readsNodes: true, outcomes };
    return new BlockRoutes().open({ ...zone, handlers: this.#handlers });
  }

  start(): void {
    this.#forward.serving();
    this.#cache.serving();
  }

  /** Another plan is in force. */
  change(settings: CachedResolverSettings): void {
    const cache = this.#cache;
    const forward = this.#forward;
    this.#cache = this.#makeCache(settings.cache, cache);
    this.#forward = this.#makeForward(settings, forward);
    this.#cache.follow();
    this.#forward.follow();
    this.#cache.serving();
    void forward.stop();
    cache.stop();
  }

  stats() {
    this.readerPath.catchUp();
    const cache = this.#cache.own?.counts();
    if (cache === undefined) throw new Error('rules of another kind');
    return { forward: this.#tally.count(), cache };
  }

  stop(): void {
    void this.#forward.stop();
    this.#cache.stop();
  }
}
