/**
 * The running server blocks of a plan: their plugins, their chains, and the choice of a block for each group of listeners.
 *
 * All blocks are complete before any of them answers, so that a plan that fails changes nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseAddress } from '@portolan/dns/address.ts';
import type { AnswerableQuery } from '@portolan/dns/query.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '../../base/clock.ts';
import { describeDefect } from '../../base/describe-error.ts';
import type { Log } from '../../base/log.ts';
import type { Losses } from '../../base/losses.ts';
import type { MetricRegistry } from '../../base/metrics/registry.ts';
import type { Answer } from '../../chain/answer.ts';
import { isBeforeCache } from '../../chain/ask-rules.ts';
import { type Chain, createBlockChain, type Handler, listPublications } from '../../chain/handler.ts';
import type { AnswerKeeper } from '../../chain/handover-answer.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import type { Client, HandleQuery, Query } from '../../chain/query.ts';
import type { BlockChoice } from '../../contract/block-choice.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import { type OwnedService, UsedServices } from '../../contract/owned-service.ts';
import type { Plugin, PluginContext, PluginStats, StopReason } from '../../contract/plugin.ts';
import { makePlugin, type PluginUse } from '../../contract/plugin-use.ts';
import type { QueryLines } from '../../contract/services.ts';
import type { Connect } from '../../forward/connect.ts';
import type { ForwardTally } from '../../forward/forward-tally.ts';
import type { ReaderPath } from '../../forward/reader-path/reader-path.ts';
import type { EnginePlan } from '../../plan/engine-plan.ts';
import { type GroupPlan, getViewName, type ServerBlockPlan } from '../../plan/server-blocks-plan.ts';
import { TableFullError } from '../../table/arena.ts';
import type { QueryCounts } from '../../table/counter-sums.ts';
import { DEFAULT_VIEW, type LocalisedPublication, type PublicationId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { countAnswers } from './answer-counts.ts';
import { findKeepers } from './answer-keepers.ts';
import { storeAnswersFromCache } from './answers-from-cache.ts';
import { BlockCounts } from './block-counts.ts';
import { BlockLimits, type StatedRates } from './block-limits.ts';
import { BlockOutcomes } from './block-outcomes.ts';
import { type BlockRules, findBlockRules } from './block-rules.ts';
import { BlockViews, mayDerive } from './block-views.ts';
import { areChosenByReaders, createClientClasses } from './client-classes.ts';
import { type DerivedAnswersOptions, storeDerivedAnswers } from './derived-answers.ts';
import { type ExplainedGroup, explainQuestion } from './explain-question.ts';
import { limitHandlers } from './limit-in-chain.ts';
import { ListenerGroup, type Site } from './listener-group.ts';
import { findService, offerBlock, offerServices, withServices } from './plugin-services.ts';
import { offerPublications, publishNames } from './published-answers.ts';
import type { ReaderCounts } from './reader-counts.ts';
import type { ServedNetworks } from './served-networks.ts';

export interface ServerBlocksDependencies {
  readonly table: TableWriter;
  /** The number of a listener group. */
  readonly getListenerGroupNumber: (server: string) => number;
  /** Counts of readers' answers. */
  readonly counts: ReaderCounts;
  /** Forwarding by readers. */
  readonly readerPath: ReaderPath;
  readonly forwardTally: ForwardTally;
  /** The blocks that answer now. No reference to them is kept. */
  readonly former: ServerBlocks | undefined;
  /** The clients that get an answer, over all plans. */
  readonly networks: ServedNetworks;
  /** The main thread's own number among the readers of the table. */
  readonly mainReader: number;
  /** All queries since the start. */
  readonly countQueries: () => QueryCounts;
  /** How upstream servers are reached; undefined: by sockets. */
  readonly connectUpstream: Connect | undefined;
  readonly queryLog: QueryLines;
  /** What plugins may use in addition to the services of the engine. */
  readonly services: readonly OwnedService[];
  readonly version: string;
  readonly metrics: MetricRegistry;
  readonly losses: Losses;
  readonly clock: Clock;
  readonly log: Log;
}

interface RunningPlugin {
  readonly name: string;
  readonly plugin: Plugin;
  readonly services: UsedServices;
}

interface RunningBlock {
  readonly plan: ServerBlockPlan;
  readonly plugins: readonly RunningPlugin[];
  readonly handlers: readonly Handler[];
  readonly chain: Chain;
  readonly choice: BlockChoice | undefined;
  readonly rules: BlockRules;
  /** What its handlers bound. */
  readonly rates: readonly StatedRates[];
  /** The names that only clients of a network see, now. */
  localised(): readonly LocalisedPublication[];
}

/** The parts of a block that its plugins use before it is complete. */
interface MadeBlock {
  readonly plugins: RunningPlugin[];
  handlers: readonly Handler[];
  chain: Chain;
}

const UNMADE: Chain = () => ({ kind: 'servfail' });

/** Milliseconds. A resolver asks again after 5 s. */
const MAX_DRAIN = 6_000;

export class ServerBlocks {
  /** What handlers bound. */
  readonly limits: BlockLimits;
  readonly #dependencies: Omit<ServerBlocksDependencies, 'former'>;
  readonly #blocks: readonly RunningBlock[];
  /** The plugins of all blocks, in order. */
  readonly #plugins: RunningPlugin[] = [];
  readonly #counts: BlockCounts;
  readonly #outcomes: BlockOutcomes;
  readonly #plan: EnginePlan;
  /** By block. */
  readonly #servers: readonly string[];
  readonly #rules: BlockRules;
  /** The publications that the views show, by the handlers of a block. */
  readonly #publications = new Map<readonly Handler[], readonly PublicationId[]>();
  readonly #views: BlockViews;
  readonly #groups: ReadonlyMap<string, ListenerGroup>;
  /** By the name of the group. */
  readonly #handleQueries: ReadonlyMap<string, HandleQuery>;
  /** What all blocks offer to their plugins, by name. */
  readonly #services: ReadonlyMap<string, unknown>;
  #inFlight = 0;
  #isShown = false;
  #isToStop = false;
  #onIdle: () => void = () => {};

  /**
   * Create functions that outlive the constructor elsewhere. V8 gives all functions of one scope one context: with `former` in
   * it, each plan would keep the previous one in memory.
   *
   * @throws PluginError, and the error of a plugin that cannot be made
   */
  constructor(plan: EnginePlan, { former, ...dependencies }: ServerBlocksDependencies) {
    this.#dependencies = dependencies;
    this.#plan = plan;
    this.#rules = findBlockRules(plan.restored);
    this.#services = offerServices({ plan, isFirst: former === undefined }, dependencies);
    this.#outcomes = new BlockOutcomes(dependencies.counts);
    this.#views = new BlockViews({
      table: dependencies.table,
      responses: plan.responses,
      getListenerGroupNumber: dependencies.getListenerGroupNumber,
      outcomes: this.#outcomes,
      networks: dependencies.networks,
    });
    this.#servers = listServers(plan);
    const formerRates = [...(former?.limits.rates ?? [])];
    try {
      this.#blocks = plan.blocks.map((block, index) =>
        this.#makeBlock(block, this.#servers[index] ?? '', former?.findFormerPlugins(block), formerRates),
      );
    } catch (error) {
      // The failed plan is tried again and again: release the metrics and the table space of the plugins made so far.
      void this.#stopPlugins('replaced');
      throw error;
    }
    this.limits = new BlockLimits(plan.groups, this.#blocks);
    this.#counts = new BlockCounts(this.handlers, dependencies.metrics);
    this.#groups = new Map(plan.groups.map((group) => [group.server, this.#makeGroup(group)]));
    this.#handleQueries = this.#countInFlight();
    this.#counts.enabled(plan, (block) => this.#blocks[block]?.handlers ?? []);
  }

  /** Resolves when queries may be answered. @throws the error of the first plugin that cannot start */
  async start(): Promise<void> {
    for (const { plugin } of this.#plugins) if (!this.#isToStop) await plugin.start?.();
  }

  /** Makes `start` stop waiting: the server is about to stop. */
  proceed(): void {
    this.#isToStop = true;
    for (const { plugin } of this.#plugins) plugin.proceed?.();
  }

  /** Applies the options of these blocks to everything that outlives plans. */
  follow(): void {
    this.#dependencies.losses.follow(this.#plan.losses);
    this.#dependencies.table.resizeCache(this.#plan.cache.octets);
    for (const { plugin } of this.#plugins) plugin.follow?.();
  }

  /** From now on, readers answer for these blocks instead of the former ones. @throws TableFullError */
  show(): void {
    this.#dependencies.readerPath.changeTogether(() => {
      this.#showViews();
      this.#isShown = true;
      for (const { plugin } of this.#plugins) plugin.shown?.();
    });
  }

  /** Call it once other blocks are shown, or all listeners are closed. */
  hide(): void {
    this.#isShown = false;
    this.#dependencies.readerPath.changeTogether(() => this.#views.remove());
  }

  /** Call it once queries are received. */
  serving(): void {
    for (const { plugin } of this.#plugins) plugin.serving?.();
  }

  /**
   * The names of plugins that are not ready, sorted, without duplicates.
   *
   * @param wasReady whether all were ready before: then only those that may lose readiness
   */
  notReady(wasReady: boolean): readonly string[] {
    const waiting = this.#plugins.filter(
      ({ plugin }) => plugin.isReady?.() === false && (!wasReady || plugin.losesReadiness === true),
    );
    return [...new Set(waiting.map(({ name }) => name))].sort();
  }

  /** The first plugin of a kind; undefined: the blocks have none. */
  find<Made extends Plugin>(kind: abstract new (...parts: never[]) => Made): Made | undefined {
    return findPlugin(this.#plugins, kind);
  }

  /** The handlers of all blocks, in the order in which they see a query. */
  get handlers(): readonly Handler[] {
    return this.#blocks.flatMap(({ handlers }) => handlers);
  }

  /** The keepers of cached answers, by their texts. */
  get keepers(): ReadonlyMap<string, AnswerKeeper> {
    return findKeepers(
      this.#blocks.map(({ plan, plugins }, index) => ({ plan, plugins, server: this.#servers[index] ?? '' })),
    );
  }

  /** Statistics of plugins. */
  count(): PluginStats {
    return Object.assign({}, ...this.#plugins.map(({ plugin }) => plugin.counts?.()));
  }

  /** What the plugins hold, in order. */
  inspect(): readonly PluginInspection[] {
    return this.#plugins.flatMap(({ plugin }) => plugin.inspect?.() ?? []);
  }

  /** Drops cached answers for a name and all names below it. */
  forget(domain: NameKey): void {
    for (const { plugin } of this.#plugins) plugin.forget?.(domain);
  }

  /** Checks for changed files at once. */
  reload(): void {
    for (const { plugin } of this.#plugins) plugin.reload?.();
  }

  /** Undefined: the plan has no such group. */
  findQueryHandler(server: string): HandleQuery | undefined {
    return this.#handleQueries.get(server);
  }

  /** Starts the plugins that ask upstream servers, for `explain`. @throws the error of the first that cannot start */
  async startForwarders(): Promise<void> {
    for (const { plugin } of this.#plugins) if (plugin.handler?.role === 'forwarder') await plugin.start?.();
  }

  /** How each group of listeners treats a query of a client. Only forwarders must have started. */
  explain(asked: AnswerableQuery, client: Client): readonly ExplainedGroup[] {
    const octets = parseAddress(client.address) ?? new Uint8Array();
    return this.#plan.groups.map((plan): ExplainedGroup => {
      const site = this.#groups.get(plan.server)?.siteFor(asked, client);
      const block = this.#blocks.find(({ chain }) => chain === site?.chain);
      if (site === undefined || block === undefined) return { server: plan.server, block: undefined };
      const isChosen = areChosenByReaders(createClientClasses(plan, this.#blocks), site.zone, octets);
      return { server: plan.server, block: explainQuestion(block, asked.question, site.zone, isChosen) };
    });
  }

  /** Stops the plugins once the queries in flight are answered, or their clients no longer wait. */
  async stop(): Promise<void> {
    this.hide();
    if (this.#inFlight > 0) await this.#untilIdle();
    await this.#untilUnread();
    this.limits.catchUp();
    await this.#stopPlugins('replaced');
  }

  /** Stops the plugins at once: all listeners are closed. */
  async abort(): Promise<void> {
    this.hide();
    await this.#stopPlugins('ending');
  }

  /** A plugin that cannot stop keeps no other from it. Never rejects. */
  async #stopPlugins(reason: StopReason): Promise<void> {
    for (const { name, plugin, services } of this.#plugins) {
      await this.#tryToStop(name, () => plugin.stop?.(reason));
      await this.#tryToStop(name, () => services.stop());
    }
  }

  async #tryToStop(plugin: string, stop: () => void | Promise<void>): Promise<void> {
    try {
      await stop();
    } catch (error) {
      const reason = describeDefect(error);
      this.#dependencies.log.error('plugin not stopped', { plugin, reason });
    }
  }

  #countInFlight(): ReadonlyMap<string, HandleQuery> {
    return new Map(
      [...this.#groups].map(([server, group]) => {
        const handleQuery = this.#countAnswers(group);
        return [server, (packet, client) => this.#answer(handleQuery, packet, client)];
      }),
    );
  }

  async #answer(handleQuery: HandleQuery, ...query: Parameters<HandleQuery>): ReturnType<HandleQuery> {
    this.#inFlight += 1;
    try {
      return await handleQuery(...query);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onIdle();
    }
  }

  #untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#dependencies.clock.after(MAX_DRAIN, resolve);
      this.#onIdle = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  /** A reader in the middle of a batch still answers by these blocks: it would deny names that a plugin removes as it stops. */
  async #untilUnread(): Promise<void> {
    const { table, clock } = this.#dependencies;
    const haveReadersLeft = table.watchReaders();
    while (!haveReadersLeft()) await new Promise<void>((resolve) => void clock.after(1, resolve));
  }

  /** The plugins that a block of another plan may take over from, in the order of its own plugins. */
  findFormerPlugins(plan: ServerBlockPlan): readonly (Plugin | undefined)[] {
    if (!this.#rules.keepsState) return [];
    const equal = this.#blocks.find((block) => isSameBlock(block.plan, plan));
    const ofZones = this.#blocks.find(
      (block) =>
        getViewName(block.plan) === getViewName(plan) && isDeepStrictEqual(block.plan.zones, plan.zones),
    );
    return plan.plugins.map((each, place) => {
      if (each.definition.outlivesPlans?.(each.options) !== true) return equal?.plugins[place]?.plugin;
      return ofZones?.plugins.find(({ name }) => name === each.name)?.plugin;
    });
  }

  #makeBlock(
    plan: ServerBlockPlan,
    server: string,
    former: readonly (Plugin | undefined)[] | undefined,
    formerRates: StatedRates[],
  ): RunningBlock {
    const made: MadeBlock = { plugins: [], handlers: [], chain: UNMADE };
    const context = this.#createContext(plan, server, made);
    const { services: offered, table, clock, log } = this.#dependencies;
    const owned = [...offered, offerPublications({ table, log, block: made })];
    plan.plugins.forEach((each, place) => {
      const { name } = each;
      const services = new UsedServices(owned, { name, clock, log });
      const plugin = this.#makePlugin(each, withServices(context, services), former?.[place], services);
      const running = { name, plugin, services };
      made.plugins.push(running);
      this.#plugins.push(running);
    });
    const known = this.#rules.keepsState ? formerRates : [];
    const stated = made.plugins.flatMap(({ plugin }) => plugin.handler ?? []).map(publishNames);
    const { handlers, rates } = limitHandlers(stated, { server, view: getViewName(plan) }, known, clock);
    made.handlers = handlers;
    made.chain = this.#createBlockChain(made.handlers);
    const [choice] = made.plugins.flatMap(({ plugin }) => plugin.choice ?? []);
    return { plan, ...made, rates, choice, rules: this.#rules, localised: localisedBy(made.plugins) };
  }

  #makePlugin(
    use: PluginUse,
    context: PluginContext,
    former: Plugin | undefined,
    services: UsedServices,
  ): Plugin {
    try {
      return makePlugin(use, context, former);
    } catch (error) {
      // It is in no list yet.
      void this.#tryToStop(use.name, () => services.stop());
      throw error;
    }
  }

  #createBlockChain(handlers: readonly Handler[]): Chain {
    return this.#keepAnswers(createBlockChain(handlers), handlers);
  }

  /** Plugins keep the context, so it is created where no former block is in scope. */
  #createContext({ zones, plugins }: ServerBlockPlan, server: string, made: MadeBlock): PluginContext {
    const { log, clock, metrics } = this.#dependencies;
    const common = this.#services;
    const own = offerBlock({ names: plugins.map(({ name }) => name), made });
    return {
      zones,
      server,
      log,
      clock,
      // The chain is complete only when the last plugin is made.
      chain: (query) => made.chain(query),
      lookUp: (query) => this.#lookUp(query, made.chain),
      metrics,
      changed: () => this.#viewsChanged(),
      find: (kind) => findPlugin(made.plugins, kind),
      use: (service) =>
        findService(service, (name) => (name === own.capability.name ? own.value : common.get(name))),
    };
  }

  /** @param own chain of the block that asks: answers of other blocks may depend on their own publications */
  #lookUp(query: Query, own: Chain): Answer | Promise<Answer> {
    const found = this.#groups.get(query.site.server)?.chainFor(query);
    if (found !== own) query.forbidStoring();
    return found?.(query) ?? { kind: 'refused' };
  }

  /** The chain whose answers readers repeat, where only the chain makes them. */
  #keepAnswers(chain: Chain, handlers: readonly Handler[]): Chain {
    if (this.#plan.responses.counting.by === 'domain')
      return handlers.some(({ derivesAnswers }) => derivesAnswers)
        ? this.#storeDerived(chain, handlers, () => ({ view: DEFAULT_VIEW, outcome: CHAIN_OUTCOME.ours }))
        : chain;
    const rules = this.#rules;
    const findOutcome = (query: Query) => this.#outcomes.ofAnswer({ handlers, rules }, query);
    if (mayDerive(handlers))
      return this.#storeDerived(chain, handlers, (query) => {
        const { server, zone } = query.site;
        const view = this.#views.findDerivedView(handlers, server, zone);
        const outcome = view && findOutcome(query);
        return view === undefined || outcome === undefined ? undefined : { view, outcome };
      });
    const place = handlers.findIndex(({ role }) => role === 'cache');
    const cache = handlers[place];
    const hasQuestions = ({ questions }: Handler) => !questions.matches()[Symbol.iterator]().next().done;
    if (cache?.role !== 'cache' || !handlers.slice(0, place).some(hasQuestions)) return chain;
    const { table, clock } = this.#dependencies;
    const publications = listPublications(handlers);
    return storeAnswersFromCache(chain, { table, view: cache.view, findOutcome, clock, rules, publications });
  }

  #storeDerived(
    chain: Chain,
    handlers: readonly Handler[],
    findPlace: DerivedAnswersOptions['findPlace'],
  ): Chain {
    const { table, clock } = this.#dependencies;
    const { recursionAvailable } = this.#plan.responses.form;
    return storeDerivedAnswers(chain, {
      table,
      clock,
      rules: this.#rules,
      ...(recursionAvailable !== 'as-answered' && { recursionAvailable }),
      publications: () => this.#publications.get(handlers) ?? [],
      findPlace,
      isBeforeCache: (query) => isBeforeCache(handlers, query),
    });
  }

  /** Answers for the listeners of a group. */
  #countAnswers(group: ListenerGroup): HandleQuery {
    const { counting } = this.#plan.responses;
    if (counting.by === 'site') return group.handleQuery;
    const { table, mainReader: reader, clock } = this.#dependencies;
    const { domain } = counting;
    return countAnswers(group.handleQuery, {
      memory: table.memory,
      reader,
      ...(domain && { domain }),
      clock,
    });
  }

  #makeGroup({ server, sites }: GroupPlan): ListenerGroup {
    const { log, networks } = this.#dependencies;
    const { form } = this.#plan.responses;
    const blocks = sites.map(({ block }) => this.#blocks[block]).filter((block) => block !== undefined);
    return new ListenerGroup({
      server,
      sites: sites.flatMap(({ zone, block }): readonly Site[] => {
        const running = this.#blocks[block];
        return running === undefined ? [] : [makeSite(zone, running)];
      }),
      form,
      // Strangers are those of the only block of our own front ends.
      ...(blocks.some(({ plan }) => plan.clients !== undefined) && {
        admits: ({ address }) => networks.admits(address),
      }),
      servesOtherClasses:
        form.acceptance === 'strict' ||
        blocks.some(({ handlers }) => handlers.some(({ answersClasses }) => answersClasses !== undefined)),
      onDropped: this.#counts.isCounting ? (query, octets) => this.#counts.dropped(query, octets) : undefined,
      onPanic: () => this.#counts.panicked(),
      log,
    });
  }

  #showViews(): void {
    const clients = this.#blocks.find(({ plan }) => plan.clients !== undefined)?.plan.clients;
    this.#views.show(this.#plan.groups, this.#blocks);
    for (const { handlers } of this.#blocks) this.#publications.set(handlers, listPublications(handlers));
    this.#dependencies.networks.serve(clients, () => void this.#viewsChanged());
  }

  /** @returns whether the views show the change, now or once they are shown at all */
  #viewsChanged(): boolean {
    if (!this.#isShown) return true;
    try {
      this.show();
      return true;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#dependencies.log.error('answer table full: view not changed', { reason: error.message });
      return false;
    }
  }
}

/** Made where no former block is in scope. */
function localisedBy(plugins: readonly RunningPlugin[]): RunningBlock['localised'] {
  return () => plugins.flatMap(({ plugin }) => plugin.localised ?? []);
}

function makeSite(zone: NameKey, { plan, chain, choice, plugins }: RunningBlock): Site {
  const view = getViewName(plan);
  if (choice === undefined) return { zone, chain, view };
  const [sources] = plugins.flatMap(({ plugin: { factSources } }) => (factSources ? [factSources] : []));
  const accepts = (query: Query) =>
    choice.accepts(sources === undefined ? query : query.describedBy(sources, view));
  return { zone, chain, view, accepts };
}

function findPlugin<Made extends Plugin>(
  plugins: readonly RunningPlugin[],
  kind: abstract new (...parts: never[]) => Made,
): Made | undefined {
  for (const { plugin } of plugins) if (plugin instanceof kind) return plugin;
  return undefined;
}

/** The first listener group that has a block, by block. */
function listServers({ groups }: EnginePlan): readonly string[] {
  const servers: string[] = [];
  for (const { server, sites } of groups) for (const { block } of sites) servers[block] ??= server;
  return servers;
}

/** Whether two blocks have the same content, wherever they are in a file. */
function isSameBlock(one: ServerBlockPlan, other: ServerBlockPlan): boolean {
  const toComparable = ({ zones, plugins }: ServerBlockPlan) => [
    zones,
    plugins.map(({ name, options }) => [name, options]),
  ];
  return isDeepStrictEqual(toComparable(one), toComparable(other));
}
