/**
 * The server blocks of a plan, brought to life: their plugins, their chains, and the choice of a block for each group of
 * listeners.
 *
 * Blocks are made whole before any of them answers, so that a plan that cannot be followed changes nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Answer } from '../../chain/answer.ts';
import { type Chain, composeChain, type Handler } from '../../chain/handler.ts';
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { Query } from '../../chain/query.ts';
import type { ServerBlockPlan, ServerBlocksPlan } from '../../config/server/server-blocks-plan.ts';
import type { ReaderPath } from '../../forward/reader-path/reader-path.ts';
import type { HandleQuery } from '../../listen/types.ts';
import { VIEW_PATHS } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { BlockCounts } from './block-counts.ts';
import { BlockViews, mayDerive } from './block-views.ts';
import { storeDerivedAnswers } from './derived-answers.ts';
import { storeKeptAnswers } from './kept-answers.ts';
import { ListenerGroup, type Site } from './listener-group.ts';
import type { Plugin, PluginContext } from './plugin.ts';
import { loadPlugins, makePlugin } from './plugins.ts';
import type { CountedAs, ReaderCounts } from './reader-counts.ts';

export interface ServerBlocksDependencies {
  readonly table: TableWriter;
  /** The number of a listener group. */
  readonly numberOf: (server: string) => number;
  /** What readers answer. */
  readonly counts: ReaderCounts;
  /** What readers forward. */
  readonly readerPath: ReaderPath;
  /** Those that answer now. They are not kept. */
  readonly former: ServerBlocks | undefined;
  readonly version: string;
  readonly metrics: PluginMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the server blocks of a plan. The code of all plugins is loaded only where a Corefile is served. */
export interface ServerBlocksMaker {
  /** Loads what few blocks need. To be awaited before blocks are made of the same plan. */
  load(plan: ServerBlocksPlan): Promise<void>;
  make(plan: ServerBlocksPlan, dependencies: ServerBlocksDependencies): ServerBlocks;
}

export const serverBlocksMaker: ServerBlocksMaker = {
  load: ({ blocks }) => loadPlugins(blocks.flatMap(({ plugins }) => plugins.map(({ name }) => name))),
  make: (plan, dependencies) => new ServerBlocks(plan, dependencies),
};

interface RunningPlugin {
  readonly name: string;
  readonly plugin: Plugin;
}

interface RunningBlock {
  readonly plan: ServerBlockPlan;
  readonly plugins: readonly Plugin[];
  readonly handlers: readonly Handler[];
  readonly chain: Chain;
  readonly isStrict: boolean;
}

/** What plugins of a block use of it before it is whole. */
interface MadeBlock {
  handlers: readonly Handler[];
  chain: Chain;
}

const UNMADE: Chain = () => ({ kind: 'servfail' });

/** Milliseconds. A resolver asks again after 5 s. */
const MAX_DRAIN = 6_000;

export class ServerBlocks {
  readonly #dependencies: Omit<ServerBlocksDependencies, 'former'>;
  readonly #blocks: readonly RunningBlock[];
  /** Those of all blocks, in order. */
  readonly #plugins: RunningPlugin[] = [];
  readonly #counts: BlockCounts;
  readonly #plan: ServerBlocksPlan;
  readonly #views: BlockViews;
  readonly #groups: ReadonlyMap<string, ListenerGroup>;
  #inFlight = 0;
  #isToStop = false;
  #onIdle: () => void = () => {};

  /**
   * Functions that outlive the constructor are written elsewhere. V8 gives all functions of one scope one context: with `former` in
   * it, each plan would keep the one before.
   *
   * @throws PluginError, and what plugins say that cannot be made
   */
  constructor(plan: ServerBlocksPlan, { former, ...dependencies }: ServerBlocksDependencies) {
    this.#dependencies = dependencies;
    this.#plan = plan;
    this.#views = makeViews(plan, dependencies);
    this.#counts = new BlockCounts(plan, dependencies.metrics);
    const takesOver = plan.isStrict ? undefined : former;
    try {
      this.#blocks = plan.blocks.map((block, index) =>
        this.#makeBlock(block, serverOf(plan, index), takesOver?.findEqual(block)),
      );
    } catch (error) {
      // A plan that cannot be followed is tried again and again: what was made of it has metrics and a place in the table by now.
      void this.#stopPlugins();
      throw error;
    }
    this.#groups = new Map(plan.groups.map((group) => [group.server, this.#makeGroup(group)]));
    this.#counts.enabled(plan, (block) => namesOf(this.#blocks[block]?.handlers ?? []));
  }

  /** Ends when queries may be answered. @throws what the first plugin says that cannot start */
  async start(): Promise<void> {
    for (const { plugin } of this.#plugins) if (!this.#isToStop) await plugin.start?.();
  }

  /** Ends what `start` waits for: the server is to stop. */
  proceed(): void {
    this.#isToStop = true;
    for (const { plugin } of this.#plugins) plugin.proceed?.();
  }

  /** Has readers answer what they can of these blocks, in place of those before. @throws TableFullError */
  show(): void {
    this.#views.show(this.#plan.groups, this.#blocks);
  }

  /** To be called once others are shown, or none are listened to. */
  hide(): void {
    this.#views.remove();
  }

  /** To be called once queries are received. */
  serving(): void {
    for (const { plugin } of this.#plugins) plugin.serving?.();
  }

  /** The plugins that are not ready yet, each name once, in order. */
  get notReady(): readonly string[] {
    const waiting = this.#plugins.filter(({ plugin }) => plugin.isReady?.() === false);
    return [...new Set(waiting.map(({ name }) => name))].sort();
  }

  /** Undefined: the plan has no such group. */
  handleQueryOf(server: string): HandleQuery | undefined {
    const group = this.#groups.get(server);
    return group && ((packet, client) => this.#answer(group, packet, client));
  }

  /** Ends the plugins once the queries that have begun are answered, or their clients no longer wait. */
  async stop(): Promise<void> {
    this.hide();
    if (this.#inFlight > 0) await this.#untilIdle();
    await this.#stopPlugins();
  }

  async #stopPlugins(): Promise<void> {
    for (const { plugin } of this.#plugins) await plugin.stop?.();
  }

  async #answer(group: ListenerGroup, ...query: Parameters<HandleQuery>): ReturnType<HandleQuery> {
    this.#inFlight += 1;
    try {
      return await group.handleQuery(...query);
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

  /** The block of a plan that says the same. */
  findEqual(plan: ServerBlockPlan): RunningBlock | undefined {
    return this.#blocks.find((block) => isSameBlock(block.plan, plan));
  }

  #makeBlock(plan: ServerBlockPlan, server: string, former: RunningBlock | undefined): RunningBlock {
    const made: MadeBlock = { handlers: [], chain: UNMADE };
    const context = this.#contextOf(plan, server, made);
    const plugins = plan.plugins.map((each, place) => {
      const plugin = makePlugin(each, context, former?.plugins[place]);
      this.#plugins.push({ name: each.name, plugin });
      return plugin;
    });
    made.handlers = plugins.flatMap(({ handler }) => handler ?? []);
    made.chain = this.#keepAnswers(chainOf(made.handlers), made.handlers);
    return { plan, plugins, ...made, isStrict: this.#plan.isStrict };
  }

  /** Plugins keep it: it is made where no former block is in scope. */
  #contextOf({ zones }: ServerBlockPlan, server: string, made: MadeBlock): PluginContext {
    const { groups, isStrict } = this.#plan;
    return {
      zones,
      server,
      // The chain is whole only when the last plugin is made.
      chain: (query) => made.chain(query),
      lookUp: (query) => this.#lookUp(query, made.chain),
      handlerNames: () => namesOf(made.handlers),
      listensAt: (address, port) =>
        groups.some((group) => group.port === port && ['', address].includes(group.address)),
      isStrict,
      ...this.#dependencies,
    };
  }

  /** @param own that of the block that asks: what others say may depend on what they publish */
  #lookUp(query: Query, own: Chain): Answer | Promise<Answer> {
    const found = this.#groups.get(query.site.server)?.chainFor(query);
    if (found !== own) query.forbidStoring();
    return found?.(query) ?? { kind: 'refused' };
  }

  #keepAnswers(chain: Chain, handlers: readonly Handler[]): Chain {
    if (mayDerive(handlers)) return this.#storeDerived(chain, handlers);
    const place = handlers.findIndex(({ role }) => role === 'cache');
    const cache = handlers[place];
    const hasQuestions = ({ questions }: Handler) => !questions.matches()[Symbol.iterator]().next().done;
    if (cache?.role !== 'cache' || !handlers.slice(0, place).some(hasQuestions)) return chain;
    const { table, clock } = this.#dependencies;
    return storeKeptAnswers(chain, { table, view: cache.view, clock, isStrict: this.#plan.isStrict });
  }

  #storeDerived(chain: Chain, handlers: readonly Handler[]): Chain {
    const { table, clock, counts } = this.#dependencies;
    const { isStrict } = this.#plan;
    const { plugins } = countedAs(handlers, isStrict);
    const publications = handlers.flatMap((each) => (each.role === 'publisher' ? [each.publication] : []));
    return storeDerivedAnswers(chain, {
      ...{ table, clock, isStrict, publications },
      placeOf: (query) => {
        const { server, zone } = query.site;
        const place = this.#views.derivedPlaceOf(server, zone);
        if (place === undefined) return undefined;
        const plugin = isStrict ? plugins?.publisher : plugins && query.answeredBy;
        const outcome = counts.derivedOutcome(server, zone, { plugin: plugin ?? '', counts: query.counts });
        if (outcome === undefined) return undefined;
        table.claimOutcomes(place.outcomes + outcome * VIEW_PATHS, VIEW_PATHS);
        return { view: place.view, outcome };
      },
    });
  }

  #makeGroup({ server, sites }: ServerBlocksPlan['groups'][number]): ListenerGroup {
    const blocks = sites.map(({ block }) => this.#blocks[block]).filter((block) => block !== undefined);
    return new ListenerGroup({
      server,
      sites: sites.flatMap(({ zone, block }): readonly Site[] => {
        const running = this.#blocks[block];
        return running === undefined ? [] : [{ zone, chain: running.chain, accepts: () => true }];
      }),
      servesOtherClasses: blocks.some(({ plan }) => plan.plugins.some(({ name }) => OTHER_CLASSES.has(name))),
      onDropped: this.#counts.isCounting ? (query, octets) => this.#counts.dropped(query, octets) : undefined,
      onPanic: () => this.#counts.panicked(),
      log: this.#dependencies.log,
    });
  }
}

function makeViews(
  { isStrict }: ServerBlocksPlan,
  { table, numberOf, counts, readerPath }: Omit<ServerBlocksDependencies, 'former'>,
): BlockViews {
  return new BlockViews({
    table,
    numberOf,
    readerPath,
    outcomesOf: (server, zone, { handlers }) =>
      counts.outcomesOf(server, zone, countedAs(handlers, isStrict)),
    derivedOutcomesOf: (server, zone, { handlers }) =>
      counts.derivedOutcomesOf(server, zone, countedAs(handlers, isStrict)),
    forwardedOutcomesOf: (server, zone, { handlers }) =>
      counts.forwardedOutcomesOf(server, zone, countedAs(handlers, isStrict)),
    requestsOf: (server, zone, { handlers }) =>
      counts.requestsOf(server, zone, countedAs(handlers, isStrict)),
  });
}

/** Where a block is reached first. */
function serverOf({ groups }: ServerBlocksPlan, index: number): string {
  return groups.find(({ sites }) => sites.some(({ block }) => block === index))?.server ?? '';
}

/** Handlers in order, and what is said where none of them answers. */
function chainOf(handlers: readonly Handler[]): Chain {
  const last = handlers.at(-1)?.name;
  // A block without a handler refuses.
  const end: Answer =
    last === undefined
      ? { kind: 'refused' }
      : { kind: 'servfail', reason: `plugin/${last}: no next plugin found` };
  return composeChain(handlers.map(noteHandler), (query) => {
    query.noteHandler('');
    return end;
  });
}

/** Whether two blocks say the same, wherever in a file. */
function isSameBlock(one: ServerBlockPlan, other: ServerBlockPlan): boolean {
  const contentOf = ({ zones, plugins }: ServerBlockPlan) => [
    zones,
    plugins.map(({ name, options }) => [name, options]),
  ];
  return isDeepStrictEqual(contentOf(one), contentOf(other));
}

/** The same handler, which leaves its name with each query that it sees. */
function noteHandler(handler: Handler): Handler {
  return {
    ...handler,
    handle(query, next) {
      query.noteHandler(handler.name);
      return handler.handle(query, next);
    },
  };
}

const namesOf = (handlers: readonly Handler[]): readonly string[] => handlers.map(({ name }) => name);

/**
 * What responses of readers are counted for: of several publishers the last, or the cache. Strictly as in CoreDNS it is the handler
 * behind `prometheus`.
 */
function countedAs(handlers: readonly Handler[], isStrict: boolean): CountedAs {
  const counter = handlers.findIndex(({ name }) => name === 'prometheus');
  const behind = handlers[counter + 1]?.name ?? '';
  const publisher = isStrict ? behind : (handlers.findLast(({ role }) => role === 'publisher')?.name ?? '');
  const cache = handlers.find((handler) => handler.role === 'cache');
  return {
    plugins:
      counter < 0
        ? undefined
        : { publisher, cache: isStrict ? behind : 'cache', forwarder: isStrict ? behind : 'forward' },
    countRead: cache?.countRead,
    countForwarded: cache?.countForwarded,
  };
}

/** Where a block has one of these, the other classes than IN are for it to answer. */
const OTHER_CLASSES: ReadonlySet<string> = new Set(['chaos', 'forward', 'proxy']);
