/**
 * Everything between sockets and sources: the answer table, the blocks behind it, and the counters of the process.
 *
 * It is made from a plan, and changes to another plan without losing a query or a valid cached answer.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { type Clock, type Timer, within } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { Losses } from '../base/losses.ts';
import { MetricRegistry } from '../base/metrics/registry.ts';
import type { Handler } from '../chain/handler.ts';
import type { AnswerKeeper } from '../chain/handover-answer.ts';
import type { Client, HandleQuery } from '../chain/query.ts';
import type { OwnedService } from '../contract/owned-service.ts';
import type { Plugin, PluginStats } from '../contract/plugin.ts';
import { loadPlugins } from '../contract/plugin-use.ts';
import type { QueryLines } from '../contract/services.ts';
import type { Connect } from '../forward/connect.ts';
import { ForwardTally } from '../forward/forward-tally.ts';
import { ReaderPath } from '../forward/reader-path/reader-path.ts';
import type { EnginePlan } from '../plan/engine-plan.ts';
import { PLAIN_GROUP, pluginUses } from '../plan/server-blocks-plan.ts';
import { composeRecords } from '../records/cluster-composer.ts';
import { CounterSums, type QueryCounts } from '../table/counter-sums.ts';
import { TableReader } from '../table/reader.ts';
import { TableWriter } from '../table/writer.ts';
import { ReaderCounts } from './server-blocks/reader-counts.ts';
import { ServedNetworks } from './server-blocks/served-networks.ts';
import { ServerBlocks } from './server-blocks/server-blocks.ts';

export interface EngineDependencies {
  /** Reader threads. */
  readonly readers: number;
  readonly version: string;
  /** How upstream servers are reached. Default: by sockets. */
  readonly connect?: Connect;
  /** For lines of plugins about queries. Default: the log. */
  readonly queryLog?: QueryLines;
  /** What plugins may use in addition to the services of the engine. Default: nothing. */
  readonly services?: readonly OwnedService[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Octets of address space; machines that do not overcommit get less. */
const TABLE_RESERVATION = 2 ** 30;
/** Readers count in 32 bits: their counts are summed before they can wrap. */
const SUM_MILLISECONDS = 600_000;
const PLUGINS_GRACE_MILLISECONDS = 2_000;

export class Engine {
  readonly table: TableWriter;
  /** The main thread's own look-ups. */
  readonly reader: TableReader;
  /** The metrics of plugins. */
  readonly metrics = new MetricRegistry();
  /** What the sources of names have lost at once. */
  readonly losses: Losses;
  /** Forwarding by readers. */
  readonly readerPath: ReaderPath;
  /** What all plugins have forwarded. */
  readonly forwardTally = new ForwardTally();
  readonly #dependencies: EngineDependencies;
  readonly #sums: CounterSums;
  readonly #networks: ServedNetworks;
  readonly #groupNumbers = new Map<string, number>();
  readonly #readerCounts: ReaderCounts;
  #blocks: ServerBlocks;
  /** Counts plans: a plan that still reads files is dropped when another comes. */
  #plans = 0;
  #timer: Timer | undefined;

  /** Load the plugins of the plan before: `loadPlugins`. @throws the error of a plugin that cannot be made */
  constructor(plan: EnginePlan, dependencies: EngineDependencies) {
    this.#dependencies = dependencies;
    this.losses = new Losses(plan.losses, dependencies);
    const { octets: cacheOctets, entries: cacheEntries, maxTtl } = plan.cache;
    // The last number is the main thread's.
    this.table = new TableWriter({
      readers: dependencies.readers + 1,
      reservation: TABLE_RESERVATION,
      cacheOctets,
      cacheEntries,
      maxTtl,
    });
    this.reader = new TableReader(this.table.memory, dependencies.readers, plan.udpSize, composeRecords);
    this.#networks = new ServedNetworks(dependencies.log);
    this.#sums = new CounterSums(this.table.memory, dependencies.readers + 1);
    this.readerPath = new ReaderPath(dependencies.readers, dependencies.clock);
    this.metrics.collectBy(() => this.readerPath.catchUp());
    this.metrics.collectBy(() => this.#blocks.limits.catchUp());
    this.#readerCounts = new ReaderCounts(
      this.metrics,
      (first, count) => this.table.claimOutcomes(first, count),
      () => this.#sums.read(),
    );
    this.#blocks = this.#buildBlocks(plan, undefined);
    this.#sumRegularly();
  }

  /** The blocks of the current plan. */
  get serverBlocks(): ServerBlocks {
    return this.#blocks;
  }

  /** In the order in which they see a query. */
  get handlers(): readonly Handler[] {
    return this.#blocks.handlers;
  }

  /** The first plugin of a kind in the current blocks; undefined: they have none. */
  find<Made extends Plugin>(kind: abstract new (...parts: never[]) => Made): Made | undefined {
    return this.#blocks.find(kind);
  }

  /** The keepers of cached answers, by texts that another process with the same settings has too. */
  get keepers(): ReadonlyMap<string, AnswerKeeper> {
    return this.#blocks.keepers;
  }

  /** Statistics of plugins. */
  count(): PluginStats {
    return this.#blocks.count();
  }

  /** Resolves once the plugins can answer. */
  async start(): Promise<void> {
    await this.#blocks.start();
    this.#blocks.follow();
    this.#blocks.show();
  }

  /**
   * Makes the blocks of another plan and starts them, beside those that answer.
   *
   * @returns undefined: a newer plan has replaced this one
   * @throws the error that keeps them from starting
   */
  async makeBlocks(plan: EnginePlan): Promise<ServerBlocks | undefined> {
    this.#plans += 1;
    const number = this.#plans;
    await loadPlugins(pluginUses(plan));
    const blocks = this.#buildBlocks(plan, this.#blocks);
    try {
      await blocks.start();
    } catch (error) {
      await blocks.stop();
      throw error;
    }
    if (number === this.#plans) return blocks;
    await blocks.stop();
    return undefined;
  }

  /**
   * Answers with these blocks from now on.
   *
   * @returns the former blocks, which still end the queries in flight
   * @throws TableFullError
   */
  replaceBlocks(blocks: ServerBlocks): ServerBlocks {
    const before = this.#blocks;
    this.table.planChanged();
    try {
      blocks.follow();
      blocks.show();
    } catch (error) {
      before.follow();
      throw error;
    }
    this.#blocks = blocks;
    before.hide();
    blocks.serving();
    return before;
  }

  /**
   * Changes to another plan. It loses no query, and keeps cached answers of domains that do not change. Resolves when the plan is
   * in force, or a newer one has replaced it.
   *
   * @throws the error that prevents the change; everything stays as it was
   */
  async change(plan: EnginePlan): Promise<void> {
    const blocks = await this.makeBlocks(plan);
    if (blocks === undefined) return;
    try {
      void this.replaceBlocks(blocks).stop();
    } catch (error) {
      await blocks.stop();
      throw error;
    }
  }

  /** The number of a listener group, the same for the life of the process. @param server its name */
  getListenerGroupNumber(server: string): number {
    if (!this.#groupNumbers.has(server)) this.#groupNumbers.set(server, this.#groupNumbers.size);
    return this.#groupNumbers.get(server) ?? 0;
  }

  /** Call it once queries are received. */
  listening(): void {
    this.#blocks.serving();
  }

  /** Answers for listeners without a group of their own. */
  readonly handleQuery: HandleQuery = async (packet, client) =>
    await this.#blocks.findQueryHandler(PLAIN_GROUP)?.(packet, client);

  /** Whether a client gets an answer. */
  admits({ address }: Pick<Client, 'address'>): boolean {
    return this.#networks.admits(address);
  }

  clearCache(): void {
    this.#blocks.forget(ROOT);
    this.table.collect();
  }

  /** Checks for changed files at once. */
  reload(): void {
    this.#blocks.reload();
  }

  countQueries(): QueryCounts {
    return this.#sums.read();
  }

  /** Resolves when the plugins have stopped, or after 2 s: one from outside may never stop. Never rejects. */
  async stop(): Promise<void> {
    this.#plans += 1;
    this.#timer?.cancel();
    await within(this.#dependencies.clock, PLUGINS_GRACE_MILLISECONDS, this.#blocks.abort());
  }

  #buildBlocks(plan: EnginePlan, former: ServerBlocks | undefined): ServerBlocks {
    const { version, connect, readers: mainReader, clock, log } = this.#dependencies;
    const { queryLog = log, services = [] } = this.#dependencies;
    const { table, metrics, losses, readerPath, forwardTally } = this;
    return new ServerBlocks(plan, {
      table,
      metrics,
      losses,
      readerPath,
      forwardTally,
      former,
      mainReader,
      version,
      clock,
      log,
      connectUpstream: connect,
      queryLog,
      services,
      networks: this.#networks,
      counts: this.#readerCounts,
      countQueries: () => this.#sums.read(),
      getListenerGroupNumber: (server) => this.getListenerGroupNumber(server),
    });
  }

  #sumRegularly(): void {
    this.#timer = this.#dependencies.clock.after(SUM_MILLISECONDS, () => {
      this.#sums.read();
      this.#sumRegularly();
    });
  }
}
