/**
 * The end of a block: the cache, and behind it the upstream servers. Cached answers and knowledge of servers outlive plans.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnswerKeeper } from '../../chain/handed-answer.ts';
import {
  addressesAnsweredBefore,
  type Chain,
  type Handler,
  minLabelsForwarded,
  reachesForwarder,
} from '../../chain/handler.ts';
import { ALL_QUESTIONS } from '../../chain/match.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import { Lasting } from '../../contract/lasting.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import type { PacketPath } from '../../listen/types.ts';
import { countAnswered } from '../../table/counter-sums.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';
import type { NameKey, Question } from '../../wire/types.ts';
import { LocalNamesPlugin } from '../local-names/local-names.ts';
import { createNameResolver } from './name-resolver.ts';
import type { ResolverOptions } from './options.ts';
import { Resolver, type ResolverSettings } from './resolver.ts';

interface Followed {
  readonly resolver: Resolver;
  readonly route: number;
  settings: ResolverSettings;
  isServing: boolean;
  /** The current block. */
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
    this.#isFiltered = options.cachedTypes !== undefined;
    this.#settings = () => settingsOf(options, context);
    this.#lasting = (
      former === undefined ? lastingResolver(this.#settings(), context) : former.#lasting
    ).retain();
    const { resolver } = this;
    this.handler = {
      name: 'forward',
      role: 'forwarder',
      answers: 'unchanged',
      questions: ALL_QUESTIONS,
      handle: (query) => {
        // The resolver has its own cache.
        query.forbidStoring();
        return resolver.answer(query);
      },
    };
    context.find(LocalNamesPlugin)?.keepInStep(this);
    const { handlers, udpSize, sendsExtendedErrors, countAnswer } = context;
    const path = resolver.packetPath({
      isExternal: (name, type) => reachesForwarder(handlers(), name, type),
      readsOptions: () => handlers().some(({ name }) => name === 'nsid'),
      ...{ udpSize, sendsExtendedErrors },
      onAnswer: countAnswer,
    });
    this.packetPath = (pending) => path.ask(pending);
  }

  /** Undefined with a cache filter: its decisions depend on earlier questions. */
  get keeper(): AnswerKeeper | undefined {
    return this.#isFiltered ? undefined : this.resolver.handedAnswers;
  }

  get resolver(): Resolver {
    return this.#lasting.value.resolver;
  }

  /** Number of the route by which readers forward; views contain it. */
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

  /** Whether a question is our own loop probe, sent back by a server that we asked. */
  isOwnProbe(question: Question): boolean {
    return this.resolver.isOwnProbe(question);
  }

  /** Drops cached answers for a name and all names below it. */
  forget(domain: NameKey): void {
    this.resolver.forget(domain);
  }

  /** Call it when the exceptions of readers may have changed. */
  updateRoute(): void {
    this.resolver.updateRoute();
  }

  /** Number of questions answered without asking upstream. */
  countHits(): number {
    const answered = countAnswered(this.#context.countQueries());
    return Math.max(0, answered - this.resolver.stats().cachingResolver.misses);
  }

  counts() {
    return { resolver: this.resolver.stats() };
  }

  inspect(): PluginInspection {
    return { forwarders: [this.resolver.forwarder] };
  }

  stop(): Promise<void> {
    return this.#lasting.release();
  }
}

/** The settings of the resolver, with the reply filters of local names. */
function settingsOf(options: ResolverOptions, { find }: PluginContext): ResolverSettings {
  const local = find(LocalNamesPlugin)?.handlers;
  if (local === undefined) return { ...options, changes: NO_CHANGES };
  const { replyChanges, leavesAddresses, mayExist } = local;
  return { ...options, changes: replyChanges, leavesAddresses, mayExist };
}

const NO_CHANGES: ResolverSettings['changes'] = [];

function lastingResolver(settings: ResolverSettings, context: PluginContext): Lasting<Followed> {
  const {
    table,
    connectUpstream: connect,
    clock,
    log,
    readerPath,
    forwardTally: tally,
    countsByDomain,
  } = context;
  const block = { context };
  const chain: Chain = (query) => block.context.chain(query);
  const resolver = new Resolver(settings, {
    ...{ table, clock, log, chain, tally },
    ...(connect && { connect }),
    resolveName: createNameResolver(() => chain),
  });
  const local = () => block.context.find(LocalNamesPlugin)?.handlers;
  const route = resolver.openRoute(readerPath, {
    exceptions: () =>
      local()?.isPublished === false ? undefined : addressesAnsweredBefore(block.context.handlers()),
    minLabels: () => minLabelsForwarded(block.context.handlers()),
    believesDenials: () => local()?.mayKnowNames !== true,
    outcome: countsByDomain ? CHAIN_OUTCOME.others : NO_OUTCOME,
  });
  const followed: Followed = { resolver, route, settings, isServing: false, block };
  return new Lasting(followed, () => resolver.stop());
}

/**
 * Keeps the former object of equal caching rules: if it changes, the resolver drops its cached answers. The filtered types never
 * change: the names of a cluster lack them for the life of the process.
 */
function withKept(settings: ResolverSettings, before: ResolverSettings): ResolverSettings {
  const { caching, filteredTypes } = before;
  const keptCaching = isDeepStrictEqual(settings.caching, caching) ? caching : settings.caching;
  return { ...settings, caching: keptCaching, filteredTypes };
}
