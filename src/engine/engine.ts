/**
 * Everything between sockets and sources: the answer table, the chain of handlers, the resolver and the counters of one process.
 *
 * There is one engine, whatever the front end. It is made from a plan, and changes to another one without losing a query or a
 * cached answer that is still right.
 */
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createHandleQuery } from '../chain/handle-query.ts';
import { addressesAnsweredBefore, type Chain, type Handler, reachesForwarder } from '../chain/handler.ts';
import { namesWithin } from '../chain/match.ts';
import { CHAIN_OUTCOME } from '../chain/outcomes.ts';
import { PluginMetrics } from '../chain/plugin-metrics.ts';
import type { Client } from '../chain/query.ts';
import type { EnginePlan, IdentityPlan } from '../config/server/engine-plan.ts';
import type { Connect } from '../forward/connect.ts';
import { ReaderPath } from '../forward/reader-path/reader-path.ts';
import { createChaosHandler } from '../handlers/chaos/chaos.ts';
import { Federations } from '../handlers/federation/federations.ts';
import { LocalHandlers } from '../handlers/local/local-handlers.ts';
import { createNameResolver } from '../handlers/resolver/name-resolver.ts';
import { Resolver, type ResolverSettings } from '../handlers/resolver/resolver.ts';
import { Cluster } from '../kube/publish/cluster.ts';
import type { HandleQuery, PacketPath } from '../listen/types.ts';
import { TableFullError } from '../table/arena.ts';
import { CounterSums, countAnswered, type QueryCounts } from '../table/counter-sums.ts';
import { TableReader } from '../table/reader.ts';
import type { PublicationId } from '../table/types.ts';
import { TableWriter } from '../table/writer.ts';
import { ROOT } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';
import { type CountingOptions, countAnswers, createAnswerCount } from './answer-counts.ts';
import { type Block, makeClusterBlock, makeForwardingBlock } from './block.ts';
import { ClientViews } from './client-views.ts';
import { storeDerivedAnswers } from './derived-answers.ts';
import type { EtcdZones, MakeEtcdZones } from './etcd-zones.ts';
import { identityOf } from './identity.ts';
import { isSameLocal, networksOf, withKept } from './kept-settings.ts';
import { ReaderCounts } from './server-blocks/reader-counts.ts';
import type { ServerBlocks, ServerBlocksMaker } from './server-blocks/server-blocks.ts';
import { describeServers } from './server-statistics.ts';
import { namesForwardedWithin } from './stub-zones.ts';
import { compileView } from './view.ts';

export interface EngineDependencies {
  /** Left out: plans have no server blocks, or no zones from etcd. */
  readonly serverBlocks?: ServerBlocksMaker;
  readonly makeEtcdZones?: MakeEtcdZones;
  /** Reader threads. */
  readonly readers: number;
  readonly version: string;
  /** How upstream servers are reached. Default: by sockets. */
  readonly connect?: Connect;
  readonly clock: Clock;
  readonly log: Log;
}

/** The watch of nodes that federations may need, as the caller sees it. */
interface Stoppable {
  stop(): Promise<void>;
}

/** Readers count in 32 bits: their counts are summed before they can wrap. */
const SUM_MILLISECONDS = 600_000;

/** @typeParam NodeWatch how the watch of nodes is seen by the caller */
export class Engine<NodeWatch extends Stoppable = Stoppable> {
  readonly table: TableWriter;
  /** The main thread's own look-ups. */
  readonly reader: TableReader;
  readonly cluster: Cluster | undefined;
  readonly federations: Federations<NodeWatch> | undefined;
  /** Zones from etcd. */
  readonly etcd: EtcdZones | undefined;
  readonly resolver: Resolver;
  readonly handleQuery: HandleQuery;
  readonly packetPath: PacketPath;
  /** Those of plugins. */
  readonly metrics = new PluginMetrics();
  /** What readers forward by themselves. */
  readonly readerPath: ReaderPath;
  readonly #route: number;
  readonly #dependencies: EngineDependencies;
  readonly #sums: CounterSums;
  readonly #clientViews: ClientViews;
  #plan: EnginePlan;
  #local: LocalHandlers;
  #block: Block | undefined;
  /** Those that its view shows. */
  #publications: readonly PublicationId[] = [];
  #serverBlocks: ServerBlocks | undefined;
  readonly #groupNumbers = new Map<string, number>();
  readonly #readerCounts: ReaderCounts;
  /** Counts changes: one that reads files is given up when another comes. */
  #changes = 0;
  #isStarted = false;
  #timer: Timer | undefined;

  /** @throws RangeError for a cluster domain that leaves no room for services */
  constructor(plan: EnginePlan, dependencies: EngineDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    const { octets: cacheOctets, entries: cacheEntries } = plan.cache;
    const { maxTtl } = plan.resolver;
    // The last number is the main thread's.
    this.table = new TableWriter({ readers: dependencies.readers + 1, cacheOctets, cacheEntries, maxTtl });
    this.reader = new TableReader(this.table.memory, dependencies.readers, plan.udpSize);
    this.#clientViews = new ClientViews(this.table, dependencies.log);
    this.#sums = new CounterSums(this.table.memory, dependencies.readers + 1);
    this.#local = this.#makeLocal(plan);
    this.cluster = this.#makeCluster();
    this.etcd = plan.etcd && dependencies.makeEtcdZones?.(plan.etcd, { table: this.table, ...dependencies });
    this.federations = plan.cluster && new Federations(plan.cluster.domain, () => this.#showView());
    this.readerPath = new ReaderPath(dependencies.readers, dependencies.clock);
    this.metrics.collectBy(() => this.readerPath.catchUp());
    this.resolver = this.#makeResolver();
    this.handleQuery = this.#makeHandleQuery();
    this.packetPath = this.#makePacketPath();
    this.#readerCounts = new ReaderCounts(this.metrics, () => this.#sums.read());
    if (plan.serverBlocks.groups.length > 0) this.#serverBlocks = this.#buildServerBlocks(plan);
    this.#route = this.#openRoute();
    this.#apply(plan, this.#local);
    this.#sumRegularly();
  }

  /** Those of the plan that is followed now; undefined: it has none. */
  get serverBlocks(): ServerBlocks | undefined {
    return this.#serverBlocks;
  }

  /** In the order in which they see a query. */
  get handlers(): readonly Handler[] {
    return this.#block?.handlers ?? [];
  }

  /** Local names and rules, those of the plan that is followed now. */
  get local(): LocalHandlers {
    return this.#local;
  }

  /** Makes the blocks of another plan and starts them, beside those that answer. @throws what keeps them from starting */
  async makeServerBlocks(plan: EnginePlan): Promise<ServerBlocks> {
    await this.#dependencies.serverBlocks?.load(plan.serverBlocks);
    const blocks = this.#buildServerBlocks(plan);
    try {
      await blocks.start();
      return blocks;
    } catch (error) {
      await blocks.stop();
      throw error;
    }
  }

  /** Answers by these from now on. @returns those that answered before; queries that they have begun they end */
  replaceServerBlocks(blocks: ServerBlocks): ServerBlocks | undefined {
    const before = this.#serverBlocks;
    blocks.show();
    this.#serverBlocks = blocks;
    before?.hide();
    blocks.serving();
    return before;
  }

  /** Ends when local names are read and answered. */
  async start(): Promise<void> {
    this.#isStarted = true;
    await this.#local.start();
    await this.etcd?.start();
    await this.#serverBlocks?.start();
    this.#serverBlocks?.show();
  }

  /** The number of a listener group, which stands for it as long as the process lives. @param server its name */
  listenerGroupOf(server: string): number {
    if (!this.#groupNumbers.has(server)) this.#groupNumbers.set(server, this.#groupNumbers.size);
    return this.#groupNumbers.get(server) ?? 0;
  }

  /** To be called once queries are received. */
  listening(): void {
    this.resolver.start();
    this.#serverBlocks?.serving();
  }

  /**
   * Answers by another plan. What is new of it is built beside what answers now, and takes its place in one step. No query is
   * lost, and what is cached of domains that stay as they are is kept. Ends when the plan is followed, or another one has come.
   * `replaceServerBlocks` changes server blocks. The cluster's zone, filtered types and the size of the cache stay as they were.
   */
  async change(plan: EnginePlan): Promise<void> {
    this.#changes += 1;
    const turn = this.#changes;
    if (isSameLocal(plan.local, this.#plan.local)) {
      this.#local.changeRules(plan.local.questions);
      this.#local.changeNetworks(networksOf(plan));
      this.#apply(plan, this.#local);
      return;
    }
    const local = this.#makeLocal(plan);
    if (this.#isStarted) await local.start();
    if (turn !== this.#changes) {
      await this.#retire(local);
      return;
    }
    const before = this.#local;
    if (this.#apply(plan, local)) await this.#retire(before);
  }

  /** Whether a client gets an answer. */
  admits({ address }: Pick<Client, 'address'>): boolean {
    return this.#clientViews.admits(address);
  }

  clearCache(): void {
    this.resolver.forget(ROOT);
    this.table.collect();
  }

  countQueries(): QueryCounts {
    return this.#sums.read();
  }

  /** Questions that were answered without asking upstream. */
  countHits(): number {
    return Math.max(0, countAnswered(this.#sums.read()) - this.resolver.stats().cachingResolver.misses);
  }

  stop(): void {
    this.#changes += 1;
    this.#timer?.cancel();
    this.#local.stop();
    this.resolver.stop();
    this.cluster?.stop();
    void this.etcd?.stop();
    void this.#serverBlocks?.stop();
  }

  /** @returns whether the table shows it */
  #apply(plan: EnginePlan, local: LocalHandlers): boolean {
    const { cluster: zone, resolver } = plan;
    const isOtherLocal = local !== this.#local;
    this.#plan = withKept(plan, this.#plan);
    this.#local = local;
    const { cluster, federations } = this;
    const etcd = plan.etcd && this.etcd?.handlers(plan.etcd, this.#chain);
    const chaos = this.#makeChaos(plan.identity);
    const parts = { local, resolver: this.resolver, chaos, ...(etcd && { etcd }) };
    const stubZones = zone && namesWithin(new Set(namesForwardedWithin(resolver.forward.rules, zone.domain)));
    const { clock, log } = this.#dependencies;
    const { filteredTypes } = this.#plan.resolver;
    this.#block =
      zone === undefined || cluster === undefined || federations === undefined || stubZones === undefined
        ? makeForwardingBlock(parts)
        : makeClusterBlock({ ...parts, zone, cluster, federations, stubZones, filteredTypes, clock, log });
    this.table.planChanged();
    this.resolver.change(this.#resolverSettings());
    federations?.replace(plan.federations);
    if (isOtherLocal) this.resolver.forget(ROOT);
    return this.#showView();
  }

  /** Shows the publications of the block from now on, with one store. */
  #showView(): boolean {
    if (this.#block === undefined) return false;
    try {
      const settings = { ...compileView(this.#block.handlers, this.#plan), route: this.#route };
      const { clients } = this.#plan;
      this.#clientViews.show({ settings, clients, localised: this.#local.localised });
      this.#publications = settings.publications;
      this.resolver.updateRoute();
      return true;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#dependencies.log.error('answer table full: view not changed', { reason: error.message });
      return false;
    }
  }

  /** Frees what local names have in the table. No view shows them any more. */
  async #retire(local: LocalHandlers): Promise<void> {
    local.stop();
    for (const publication of [local.publication, ...local.localised.map((each) => each.publication)]) {
      const steps = this.table.dropPublication(publication);
      while (steps.next().done !== true) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #makeLocal(plan: EnginePlan): LocalHandlers {
    const { local: settings } = plan;
    const { clock, log } = this.#dependencies;
    const { table } = this;
    const forget = (domains: readonly NameKey[]) => {
      for (const domain of domains) this.resolver.forget(domain);
      this.resolver.updateRoute();
    };
    return new LocalHandlers({
      settings,
      table,
      networks: networksOf(plan),
      onShow: () => this.#showView(),
      forget,
      clock,
      log,
    });
  }

  #buildServerBlocks({ serverBlocks }: EnginePlan): ServerBlocks {
    const { serverBlocks: maker, version, clock, log } = this.#dependencies;
    if (maker === undefined) throw new TypeError('server blocks without the code for them');
    const numberOf = (server: string) => this.listenerGroupOf(server);
    const { table, metrics, readerPath } = this;
    const own = { table, metrics, readerPath, counts: this.#readerCounts, numberOf };
    return maker.make(serverBlocks, { ...own, former: this.#serverBlocks, version, clock, log });
  }

  #makeCluster(): Cluster | undefined {
    const { cluster, resolver } = this.#plan;
    const { clock, log } = this.#dependencies;
    const { filteredTypes } = resolver;
    return cluster && new Cluster({ ...cluster, filteredTypes }, this.table, clock, log);
  }

  #makeResolver(): Resolver {
    const { connect, clock, log } = this.#dependencies;
    const { cacheFilter } = this.#plan;
    return new Resolver(this.#resolverSettings(), {
      table: this.table,
      ...(connect && { connect }),
      ...{ clock, log, chain: this.#chain },
      resolveName: createNameResolver(() => this.#chain),
      before: cacheFilter === undefined ? [] : [cacheFilter],
    });
  }

  #resolverSettings(): ResolverSettings {
    const { replyChanges, leavesAddresses, mayExist } = this.#local;
    return { ...this.#plan.resolver, changes: replyChanges, leavesAddresses, mayExist };
  }

  readonly #chain: Chain = (query) => this.#block?.chain(query) ?? { kind: 'refused' };

  #makeChaos(identity: IdentityPlan | undefined): Handler | undefined {
    if (identity === undefined) return undefined;
    const { identifies, ttl, cacheSize } = identity;
    const stats = () => {
      const { cachingResolver, forward } = this.resolver.stats();
      const { insertions, evictions } = this.table.statistics();
      const servers = describeServers(forward.upstreams);
      const { misses } = cachingResolver;
      return { cacheSize, insertions, evictions, misses, hits: this.countHits(), servers };
    };
    return createChaosHandler({ identifies, ...identityOf(this.#dependencies.version), ttl, stats });
  }

  #makeHandleQuery(): HandleQuery {
    const { recursionAvailable, udpSize } = this.#plan;
    const chain = this.cluster === undefined && this.etcd === undefined ? this.#chain : this.#storeDerived();
    const options = { recursionAvailable, udpSize, log: this.#dependencies.log };
    const counted = countAnswers(createHandleQuery(chain, options), this.#counting());
    return async (packet, client) => (this.admits(client) ? await counted(packet, client) : undefined);
  }

  #storeDerived(): Chain {
    return storeDerivedAnswers(this.#chain, {
      table: this.table,
      publications: () => this.#publications,
      recursionAvailable: this.#plan.recursionAvailable,
      clock: this.#dependencies.clock,
    });
  }

  #makePacketPath(): PacketPath {
    const forwarding = this.resolver.packetPath({
      isExternal: (name, type) => reachesForwarder(this.handlers, name, type),
      udpSize: this.#plan.udpSize,
      onAnswer: createAnswerCount(this.#counting()),
    });
    return (pending) => this.#clientViews.admits(pending.client) && forwarding.ask(pending);
  }

  #openRoute(): number {
    return this.resolver.openRoute(this.readerPath, {
      exceptions: () => (this.#local.isPublished ? addressesAnsweredBefore(this.handlers) : undefined),
      believesDenials: () => !this.#local.mayKnowNames,
      outcome: this.cluster === undefined ? 0 : CHAIN_OUTCOME.others,
    });
  }

  #counting(): CountingOptions {
    const { readers: reader, clock } = this.#dependencies;
    const domain = this.#plan.cluster?.domain;
    return { memory: this.table.memory, reader, ...(domain && { domain }), clock };
  }

  #sumRegularly(): void {
    this.#timer = this.#dependencies.clock.after(SUM_MILLISECONDS, () => {
      this.#sums.read();
      this.#sumRegularly();
    });
  }
}
