/**
 * The server blocks of a plan, brought to life: their plugins, their chains, and the choice of a block for each group of
 * listeners.
 *
 * Blocks are made whole before any of them answers, so that a plan that cannot be followed changes nothing.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { type Chain, composeChain } from '../../chain/handler.ts';
import type { ServerBlockPlan, ServerBlocksPlan } from '../../config/server/server-blocks-plan.ts';
import type { HandleQuery } from '../../listen/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { ListenerGroup, type Site } from './listener-group.ts';
import type { Plugin } from './plugin.ts';
import { makePlugin } from './plugins.ts';

export interface ServerBlocksDependencies {
  readonly table: TableWriter;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface RunningPlugin {
  readonly name: string;
  readonly plugin: Plugin;
}

interface RunningBlock {
  readonly plan: ServerBlockPlan;
  readonly plugins: readonly RunningPlugin[];
  readonly chain: Chain;
}

/** What the end of a chain says: no plugin has answered. */
const NO_PLUGIN = 'no next plugin found';

export class ServerBlocks {
  readonly #dependencies: ServerBlocksDependencies;
  readonly #blocks: readonly RunningBlock[];
  readonly #groups: ReadonlyMap<string, ListenerGroup>;

  /** @throws PluginError, and what plugins say that cannot be made */
  constructor(plan: ServerBlocksPlan, dependencies: ServerBlocksDependencies) {
    this.#dependencies = dependencies;
    const serverOf = (index: number) =>
      plan.groups.find(({ sites }) => sites.some(({ block }) => block === index))?.server ?? '';
    this.#blocks = plan.blocks.map((block, index) => this.#makeBlock(block, serverOf(index)));
    this.#groups = new Map(plan.groups.map((group) => [group.server, this.#makeGroup(group)]));
  }

  /** Ends when queries may be answered. @throws what the first plugin says that cannot start */
  async start(): Promise<void> {
    for (const { plugin } of this.#plugins()) await plugin.start?.();
  }

  /** To be called once queries are received. */
  serving(): void {
    for (const { plugin } of this.#plugins()) plugin.serving?.();
  }

  /** The plugins that are not ready yet, each name once, in order. */
  get notReady(): readonly string[] {
    const waiting = [...this.#plugins()].filter(({ plugin }) => plugin.isReady?.() === false);
    return [...new Set(waiting.map(({ name }) => name))].sort();
  }

  /** Undefined: the plan has no such group. */
  handleQueryOf(server: string): HandleQuery | undefined {
    return this.#groups.get(server)?.handleQuery;
  }

  async stop(): Promise<void> {
    for (const { plugin } of this.#plugins()) await plugin.stop?.();
  }

  *#plugins(): Iterable<RunningPlugin> {
    for (const { plugins } of this.#blocks) yield* plugins;
  }

  #makeBlock(plan: ServerBlockPlan, server: string): RunningBlock {
    const { table, version, clock, log } = this.#dependencies;
    let chain: Chain = () => ({ kind: 'servfail' });
    const context = {
      zones: plan.zones,
      server,
      // The chain is whole only when the last plugin is made.
      chain: ((query) => chain(query)) satisfies Chain,
      table,
      version,
      clock,
      log,
    };
    const plugins = plan.plugins.map((each) => ({ name: each.name, plugin: makePlugin(each, context) }));
    const handlers = plugins.flatMap(({ plugin: { handler } }) => handler ?? []);
    // A block without a handler refuses.
    const end: Chain = () =>
      handlers.length === 0 ? { kind: 'refused' } : { kind: 'servfail', reason: NO_PLUGIN };
    chain = composeChain(handlers, end);
    return { plan, plugins, chain };
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
      log: this.#dependencies.log,
    });
  }
}

/** Where a block has one of these, the other classes than IN are for it to answer. */
const OTHER_CLASSES: ReadonlySet<string> = new Set(['chaos', 'forward', 'proxy']);
