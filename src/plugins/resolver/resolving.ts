/**
 * The end of a block: the upstream servers. Knowledge of them outlives plans.
 */
import {
  addressesAnsweredBefore,
  type Chain,
  type Handler,
  minLabelsForwarded,
} from '../../chain/handler.ts';
import { ALL_QUESTIONS } from '../../chain/match.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import { Lasting } from '../../contract/lasting.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import { countAnswered } from '../../table/counter-sums.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';
import type { Question } from '../../wire/types.ts';
import { Cache } from '../cache/cache.ts';
import { LocalNamesPlugin } from '../local-names/local-names.ts';
import { createNameResolver } from './name-resolver.ts';
import type { ResolverOptions } from './options.ts';
import { Resolver, type ResolverSettings } from './resolver.ts';

interface Followed {
  readonly resolver: Resolver;
  /** The current block. */
  readonly block: { context: PluginContext };
}

export class Resolving implements Plugin {
  readonly handler: Handler;
  readonly #lasting: Lasting<Followed>;
  readonly #settings: () => ResolverSettings;
  readonly #context: PluginContext;

  constructor(options: ResolverOptions, context: PluginContext, former: Resolving | undefined) {
    this.#context = context;
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
      handle: (query) => resolver.answer(query),
    };
    context.find(LocalNamesPlugin)?.keepInStep({
      forget: (domain) => context.find(Cache)?.forget(domain),
      updateRoute: () => this.updateRoute(),
    });
  }

  get resolver(): Resolver {
    return this.#lasting.value.resolver;
  }

  /** Number of the route by which readers forward; views contain it. */
  get route(): number {
    return this.resolver.route;
  }

  follow(): void {
    const { block, resolver } = this.#lasting.value;
    if (block.context === this.#context) return;
    block.context = this.#context;
    resolver.change(this.#settings());
  }

  shown(): void {
    this.updateRoute();
  }

  serving(): void {
    this.resolver.start();
  }

  /** Whether a question is our own loop probe, sent back by a server that we asked. */
  isOwnProbe(question: Question): boolean {
    return this.resolver.isOwnProbe(question);
  }

  /** Call it when the exceptions of readers may have changed. */
  updateRoute(): void {
    this.resolver.updateRoute();
  }

  /** Number of questions answered without asking upstream. */
  countHits(): number {
    const answered = countAnswered(this.#context.countQueries());
    return Math.max(0, answered - this.resolver.stats().cache.misses);
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
  const cache = context.find(Cache)?.own;
  if (cache === undefined) throw new TypeError('a resolver without a cache');
  const resolver = new Resolver(settings, {
    ...{ cache, table, clock, log, tally },
    ...(connect && { connect }),
    resolveName: createNameResolver(() => chain),
  });
  const local = () => block.context.find(LocalNamesPlugin)?.handlers;
  resolver.openRoute(readerPath, {
    exceptions: () =>
      local()?.isPublished === false ? undefined : addressesAnsweredBefore(block.context.handlers()),
    minLabels: () => minLabelsForwarded(block.context.handlers()),
    believesDenials: () => local()?.mayKnowNames !== true,
    outcome: countsByDomain ? CHAIN_OUTCOME.others : NO_OUTCOME,
  });
  return new Lasting({ resolver, block }, () => resolver.stop());
}
