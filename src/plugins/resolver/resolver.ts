/**
 * Answers names that are not ours: upstream servers, the cache in the table, and changes of their settings.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Answer } from '../../chain/answer.ts';
import { type Chain, composeChain } from '../../chain/handler.ts';
import { Prefetching } from '../../chain/prefetching.ts';
import type { Query } from '../../chain/query.ts';
import type { ResolverStats } from '../../chain/resolver-stats.ts';
import type { Connect } from '../../forward/connect.ts';
import type { ForwardPlan } from '../../forward/forward-plan.ts';
import { ForwardTally } from '../../forward/forward-tally.ts';
import { Forwarder } from '../../forward/forwarder.ts';
import type { ResolveName } from '../../forward/named-servers.ts';
import { toCachedQuestion } from '../../forward/question-key.ts';
import type { LinkedForwarder } from '../../forward/reader-path/linked-forwarder.ts';
import type { ReaderPath } from '../../forward/reader-path/reader-path.ts';
import { NO_ROUTE } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { encodeName, ROOT } from '../../wire/name.ts';
import type { NameKey, Question } from '../../wire/types.ts';
import { boundTtls } from './bound-ttls.ts';
import { CachingResolver, type StaleSettings } from './caching-resolver.ts';
import { listChangedDomains } from './changed-domains.ts';
import { Forwarding, type ReplySettings } from './forwarding.ts';
import { HandedAnswers } from './handed-answers.ts';
import { PacketForwarding, type PacketForwardingOptions, type ResolverParts } from './packet-path.ts';
import { ResolverRoute, type ResolverRouteOptions } from './resolver-route.ts';

export interface ResolverSettings extends ReplySettings {
  readonly forward: ForwardPlan;
  /** Undefined: stale answers are not served. */
  readonly stale: StaleSettings | undefined;
  readonly prefetch: boolean;
  /** Maximum TTL sent to clients, in seconds, however long an answer is cached. The table has its own such bound. */
  readonly maxTtl?: number | undefined;
}

export interface ResolverDependencies {
  readonly table: TableWriter;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts what is forwarded; one of its own by default. */
  readonly tally?: ForwardTally;
  /** Resolves upstream servers that are given by name, through our own chain. */
  readonly resolveName: ResolveName;
  /**
   * The whole chain, which ends with the resolver. Prefetching asks it: a handler before the resolver may answer the name by now.
   * Default: the resolver itself.
   */
  readonly chain?: Chain;
  /** How servers are reached; by sockets by default. */
  readonly connect?: Connect;
  /** From 0 to below 1, for choices that need not be secret. */
  readonly random?: () => number;
}

export class Resolver {
  readonly #table: TableWriter;
  readonly #clock: Clock;
  readonly #forwarder: Forwarder;
  readonly #forwarding: Forwarding;
  readonly #tally: ForwardTally;
  readonly #cachingResolver: CachingResolver;
  readonly #prefetching: Prefetching;
  /** Cached answers for the process that takes over. */
  readonly handedAnswers: HandedAnswers;
  readonly #chain: Chain;
  /** Prefetch queries on their way through the chain. */
  readonly #refreshing = new WeakSet<Query>();
  #settings: ResolverSettings;
  #generation = 0;
  #readerPath: ReaderPath | undefined;
  #link: LinkedForwarder | undefined;

  constructor(settings: ResolverSettings, options: ResolverDependencies) {
    const { table, clock, log, tally = new ForwardTally(), chain = (query) => this.answer(query) } = options;
    this.#settings = settings;
    this.handedAnswers = new HandedAnswers(table, clock);
    this.#chain = chain;
    this.#table = table;
    this.#clock = clock;
    this.#forwarder = new Forwarder(settings.forward, options);
    this.#tally = tally;
    tally.follow(this.#forwarder);
    this.#forwarding = new Forwarding(this.#forwarder, { settings: () => this.#settings, tally, clock, log });
    this.#cachingResolver = new CachingResolver({
      ask: composeChain([this.#forwarding]),
      store: table,
      clock,
      recursionAvailable: true,
      stale: () => this.#settings.stale,
      generation: () => this.#generation,
      waited: (question) => this.#forwarder.tried.waited(question),
    });
    this.#prefetching = new Prefetching({
      table,
      refresh: (query) => this.#refresh(query),
      isWanted: () => this.#settings.prefetch,
      clock,
    });
  }

  /** The end of a chain. */
  answer(query: Query): Answer | Promise<Answer> {
    const answer = this.#refreshing.delete(query)
      ? this.#cachingResolver.refresh(query)
      : this.#cachingResolver.answer(query);
    const { maxTtl } = this.#settings;
    if (maxTtl === undefined) return answer;
    return answer instanceof Promise
      ? answer.then((late) => boundTtls(late, maxTtl))
      : boundTtls(answer, maxTtl);
  }

  /** Asks again for a cached answer. If a handler before the resolver answers by now, drops the cached answer. */
  async #refresh(query: Query): Promise<void> {
    this.#refreshing.add(query);
    await this.#chain(query);
    if (this.#refreshing.delete(query)) this.#table.dropCached(toCachedQuestion(query.questionKey));
  }

  /** The packet path, for questions that no handler before the resolver answers. */
  packetPath(options: PacketForwardingOptions): PacketForwarding {
    return new PacketForwarding(this.#parts(), options);
  }

  /** Lets readers forward such questions by themselves. Call it once. @returns the number of the route, for views */
  openRoute(
    readerPath: ReaderPath,
    options: Omit<ResolverRouteOptions, 'servesStaleAtOnce' | 'trustsAd'>,
  ): number {
    const servesStaleAtOnce = () => this.#settings.stale?.timeout === 0;
    const trustsAd = () => this.#settings.forward.trustsAd;
    this.#readerPath = readerPath;
    this.#link = readerPath.link(this.#forwarder);
    const route = new ResolverRoute(this.#parts(), { ...options, servesStaleAtOnce, trustsAd });
    return this.#link?.open(route) ?? NO_ROUTE;
  }

  /** Call it when results of the route's options may have changed. */
  updateRoute(): void {
    this.#readerPath?.noteGeneration();
    this.#link?.update();
  }

  #parts(): ResolverParts {
    return {
      forwarder: this.#forwarder,
      forwarding: this.#forwarding,
      cachingResolver: this.#cachingResolver,
      table: this.#table,
      clock: this.#clock,
      isUsable: () => leavesPlainReplies(this.#settings),
    };
  }

  /** Whether a question is our own loop probe, sent back by a server that we asked. Do not answer it. */
  isOwnProbe(question: Question): boolean {
    return this.#forwarder.isOwnProbe(question);
  }

  /** Asks the upstream servers. */
  get forwarder(): Forwarder {
    return this.#forwarder;
  }

  /** Call it once queries are received. */
  start(): void {
    this.#forwarder.testForLoops();
    this.#prefetching.start();
  }

  /**
   * Applies other settings. Drops the cached answers that the change affects; queries in flight are answered by the former
   * settings, and their answers are not cached.
   */
  change(settings: ResolverSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    this.#generation += 1;
    const isOnlyForward =
      before.caching === settings.caching &&
      before.changes === settings.changes &&
      before.filteredTypes === settings.filteredTypes;
    const domains = isOnlyForward ? listChangedDomains(before.forward.rules, settings.forward.rules) : [ROOT];
    for (const domain of domains) this.forget(domain);
    this.#forwarder.change(settings.forward);
    this.updateRoute();
    // Until now readers have asked by the former settings.
    this.#generation += 1;
    this.#readerPath?.noteGeneration();
  }

  /** Drops cached answers for a name and all names below it. @returns the number of dropped answers */
  forget(domain: NameKey): number {
    this.#generation += 1;
    this.#readerPath?.noteGeneration();
    return this.#table.dropCachedWithin(encodeName(domain));
  }

  stats(): ResolverStats {
    this.#readerPath?.catchUp();
    return {
      forward: this.#tally.count(),
      cachingResolver: this.#cachingResolver.count(),
      prefetched: this.#prefetching.prefetched,
    };
  }

  /** Queries in flight fail at once. */
  stop(): void {
    this.#prefetching.stop();
    this.#tally.leave(this.#forwarder);
    this.#forwarder.stop();
    this.#link?.update();
  }
}

/** Whether clients get addresses as servers send them, except for the bounds of the cache. */
function leavesPlainReplies({ changes, leavesAddresses, filteredTypes, maxTtl }: ResolverSettings): boolean {
  return (
    (changes.length === 0 || leavesAddresses === true) && filteredTypes.size === 0 && maxTtl === undefined
  );
}
