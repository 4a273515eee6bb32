/**
 * Answers names that are not ours by upstream servers, and follows changes of their settings. The cache before it has the answers.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Query } from '../../chain/query.ts';
import type { ResolverStats } from '../../chain/resolver-stats.ts';
import type { Connect } from '../../forward/connect.ts';
import type { ForwardPlan } from '../../forward/forward-plan.ts';
import { ForwardTally } from '../../forward/forward-tally.ts';
import { Forwarder } from '../../forward/forwarder.ts';
import type { ResolveName } from '../../forward/named-servers.ts';
import type { LinkedForwarder } from '../../forward/reader-path/linked-forwarder.ts';
import type { ReaderPath } from '../../forward/reader-path/reader-path.ts';
import { NO_ROUTE } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { ROOT } from '../../wire/name.ts';
import type { Question } from '../../wire/types.ts';
import type { OwnAnswers } from '../cache/own-answers.ts';
import { listChangedDomains } from './changed-domains.ts';
import { Forwarding, type ReplySettings } from './forwarding.ts';
import { type ResolverParts, ResolverRoute, type ResolverRouteOptions } from './resolver-route.ts';

export interface ResolverSettings extends ReplySettings {
  readonly forward: ForwardPlan;
}

export interface ResolverDependencies {
  /** The cache before it. */
  readonly cache: OwnAnswers;
  readonly table: TableWriter;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts what is forwarded; one of its own by default. */
  readonly tally?: ForwardTally;
  /** Resolves upstream servers that are given by name, through our own chain. */
  readonly resolveName: ResolveName;
  /** How servers are reached; by sockets by default. */
  readonly connect?: Connect;
  /** From 0 to below 1, for choices that need not be secret. */
  readonly random?: () => number;
}

export class Resolver {
  readonly #options: ResolverDependencies;
  readonly #forwarder: Forwarder;
  readonly #forwarding: Forwarding;
  readonly #tally: ForwardTally;
  #settings: ResolverSettings;
  #readerPath: ReaderPath | undefined;
  #link: LinkedForwarder | undefined;
  #route = NO_ROUTE;
  #isStarted = false;

  constructor(settings: ResolverSettings, options: ResolverDependencies) {
    const { cache, clock, log, tally = new ForwardTally() } = options;
    this.#options = options;
    this.#settings = settings;
    this.#forwarder = new Forwarder(settings.forward, options);
    this.#tally = tally;
    tally.follow(this.#forwarder);
    this.#forwarding = new Forwarding(this.#forwarder, {
      settings: () => this.#settings,
      ...{ cache, tally, clock, log },
    });
    cache.waited = (question) => this.#forwarder.tried.waited(question);
  }

  /** The end of a chain. */
  answer(query: Query): Promise<Answer> {
    return this.#forwarding.handle(query);
  }

  /** Lets readers forward such questions by themselves. Call it once. */
  openRoute(readerPath: ReaderPath, options: Omit<ResolverRouteOptions, 'trustsAd'>): void {
    const trustsAd = () => this.#settings.forward.trustsAd;
    this.#readerPath = readerPath;
    this.#link = readerPath.link(this.#forwarder);
    const route = new ResolverRoute(this.#parts(), { ...options, trustsAd });
    this.#route = this.#link?.open(route) ?? NO_ROUTE;
  }

  /** Number of the route by which readers forward; views contain it. */
  get route(): number {
    return this.#route;
  }

  /** Call it when results of the route's options may have changed. */
  updateRoute(): void {
    this.#readerPath?.noteGeneration();
    this.#link?.update();
  }

  #parts(): ResolverParts {
    const { cache } = this.#options;
    return {
      forwarding: this.#forwarding,
      cache,
      isUsable: () => cache.rules.maxTtl === undefined && leavesPlainReplies(this.#settings),
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
    if (!this.#isStarted) this.#forwarder.testForLoops();
    this.#isStarted = true;
  }

  /**
   * Applies other settings. The filtered types never change: the names of a cluster lack them for the life of the process. Drops the cached answers that the change affects; queries in flight are answered by the former
   * settings, and their answers are not cached.
   */
  change(settings: ResolverSettings): void {
    const before = this.#settings;
    const { cache } = this.#options;
    this.#settings = { ...settings, filteredTypes: before.filteredTypes };
    cache.noteChange();
    const domains =
      before.changes === settings.changes
        ? listChangedDomains(before.forward.rules, settings.forward.rules)
        : [ROOT];
    for (const domain of domains) cache.forget(domain);
    this.#forwarder.change(settings.forward);
    this.updateRoute();
    // Until now readers have asked by the former settings.
    cache.noteChange();
  }

  stats(): ResolverStats {
    this.#readerPath?.catchUp();
    return { forward: this.#tally.count(), cache: this.#options.cache.counts() };
  }

  /** Queries in flight fail at once. */
  stop(): void {
    this.#tally.leave(this.#forwarder);
    this.#forwarder.stop();
    this.#link?.update();
  }
}

/** Whether clients get addresses as servers send them, except for the bounds of the cache. */
function leavesPlainReplies({ changes, leavesAddresses, filteredTypes }: ResolverSettings): boolean {
  return (changes.length === 0 || leavesAddresses === true) && filteredTypes.size === 0;
}
