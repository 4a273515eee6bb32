/**
 * The end of a block: the cache, and behind it the upstream servers. What is cached and what is known of servers outlives plans.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnswerKeeper } from '../../chain/handed-answer.ts';
import { addressesAnsweredBefore, type Chain, type Handler, reachesForwarder } from '../../chain/handler.ts';
import { ALL_QUESTIONS } from '../../chain/match.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import { Lasting } from '../../contract/lasting.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import type { PacketPath } from '../../listen/types.ts';
import { createNameResolver } from '../../resolver/name-resolver.ts';
import { Resolver, type ResolverSettings } from '../../resolver/resolver.ts';
import { countAnswered } from '../../table/counter-sums.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';
import type { NameKey, Question } from '../../wire/types.ts';
import { LocalNames } from '../local-names/local-names.ts';
import type { ResolverOptions } from './options.ts';

interface Followed {
  readonly resolver: Resolver;
  readonly route: number;
  settings: ResolverSettings;
  isServing: boolean;
  /** The block that is followed. */
  readonly block: { context: PluginContext };
}

export class Resolving implements Plugin {
  readonly handler: Handler;
  readonly packetPath: PacketPath;
  readonly #lasting: Lasting<Followed>;
  readonly #settings: () => ResolverSettings;
  readonly #context: PluginContext;
  readonly #isFiltered: boolean;

  constructor(options: ResolverOptions, context: PluginContext, former: Resolving | undefined) {
    this.#context = context;
    this.#isFiltered = options.cacheFilter !== undefined;
    this.#settings = () => settingsOf(options, context);
    this.#lasting = (
      former === undefined ? lastingResolver(options, this.#settings(), context) : former.#lasting
    ).retain();
    const { resolver } = this;
    this.handler = {
      name: 'forward',
      role: 'forwarder',
      answers: 'unchanged',
      questions: ALL_QUESTIONS,
      handle: (query) => {
        // What it finds is kept by its own cache.
        query.forbidStoring();
        return resolver.answer(query);
      },
    };
    context.find(LocalNames)?.keepInStep(this);
    const { handlers, udpSize, countAnswer } = context;
    const path = resolver.packetPath({
      isExternal: (name, type) => reachesForwarder(handlers(), name, type),
      udpSize,
      onAnswer: countAnswer,
    });
    this.packetPath = (pending) => path.ask(pending);
  }

  /** What a filter keeps depends on what it has been asked. */
  get keeper(): AnswerKeeper | undefined {
    return this.#isFiltered ? undefined : this.resolver.handedAnswers;
  }

  get resolver(): Resolver {
    return this.#lasting.value.resolver;
  }

  /** The number by which views say that readers forward. */
  get route(): number {
    return this.#lasting.value.route;
  }

  follow(): void {
    const followed = this.#lasting.value;
    const isSame = followed.block.context === this.#context;
    followed.block.context = this.#context;
    if (isSame) return;
    followed.settings = withKept(this.#settings(), followed.settings);
    followed.resolver.change(followed.settings);
  }

  shown(): void {
    this.updateRoute();
  }

  serving(): void {
    const followed = this.#lasting.value;
    if (!followed.isServing) followed.resolver.start();
    followed.isServing = true;
  }

  /** Whether a question is our own, sent back by a server that we asked. */
  isOwnProbe(question: Question): boolean {
    return this.resolver.isOwnProbe(question);
  }

  /** Forgets what is cached of a name and all below it. */
  forget(domain: NameKey): void {
    this.resolver.forget(domain);
  }

  /** To be called when what readers may not forward may have changed. */
  updateRoute(): void {
    this.resolver.updateRoute();
  }

  /** Questions that were answered without asking upstream. */
  countHits(): number {
    const answered = countAnswered(this.#context.countQueries());
    return Math.max(0, answered - this.resolver.stats().cachingResolver.misses);
  }

  counts() {
    return { resolver: this.resolver.stats() };
  }

  stop(): Promise<void> {
    return this.#lasting.release();
  }
}

/** With what local names do to replies. */
function settingsOf(
  { cacheFilter: _, ...options }: ResolverOptions,
  { find }: PluginContext,
): ResolverSettings {
  const local = find(LocalNames)?.handlers;
  if (local === undefined) return { ...options, changes: NO_CHANGES };
  const { replyChanges, leavesAddresses, mayExist } = local;
  return { ...options, changes: replyChanges, leavesAddresses, mayExist };
}

const NO_CHANGES: ResolverSettings['changes'] = [];

function lastingResolver(
  { cacheFilter }: ResolverOptions,
  settings: ResolverSettings,
  context: PluginContext,
): Lasting<Followed> {
  const { table, connectUpstream: connect, clock, log, readerPath, countsByDomain } = context;
  const block = { context };
  const chain: Chain = (query) => block.context.chain(query);
  const resolver = new Resolver(settings, {
    ...{ table, clock, log, chain },
    ...(connect && { connect }),
    resolveName: createNameResolver(() => chain),
    before: cacheFilter === undefined ? [] : [cacheFilter],
  });
  const local = () => block.context.find(LocalNames)?.handlers;
  const route = resolver.openRoute(readerPath, {
    exceptions: () =>
      local()?.isPublished === false ? undefined : addressesAnsweredBefore(block.context.handlers()),
    believesDenials: () => local()?.mayKnowNames !== true,
    outcome: countsByDomain ? CHAIN_OUTCOME.others : NO_OUTCOME,
  });
  const followed: Followed = { resolver, route, settings, isServing: false, block };
  return new Lasting(followed, () => resolver.stop());
}

/**
 * With the very rules of before where they are equal: the resolver forgets what it has cached when they are others. Types that the
 * names of a cluster lack are left out of replies as long as the process lives.
 */
function withKept(settings: ResolverSettings, before: ResolverSettings): ResolverSettings {
  const { caching, filteredTypes } = before;
  const keptCaching = isDeepStrictEqual(settings.caching, caching) ? caching : settings.caching;
  return { ...settings, caching: keptCaching, filteredTypes };
}
