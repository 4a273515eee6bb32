/**
 * Runs a plan as a server: start order, readiness, statistics, changes, drain and stop.
 *
 * Start order: find the source of objects, read the snapshot and the followed settings, open the sockets, follow the objects. In a
 * takeover the sockets come last, once this process can answer as well as the one it replaces.
 */
import { networkInterfaces } from 'node:os';
import type { Client } from '../chain/query.ts';
import { optionsOf } from '../config/server/server-blocks-plan.ts';
import type { ServerPlan } from '../config/server/server-plan.ts';
import { Engine } from '../engine/engine.ts';
import type { PluginMaker } from '../engine/server-blocks/plugin-maker.ts';
import { Listeners } from '../listen/listeners.ts';
import { addressesToBind } from '../listen/local-addresses.ts';
import { QueryEventRings } from '../listen/query-events/event-rings.ts';
import { isServed } from '../listen/udp.ts';
import type { StartThread } from '../listen/udp-reader.ts';
import { HealthServer, type Readiness } from '../observe/health.ts';
import { NO_DROPS } from '../observe/http-connections.ts';
import { Metrics } from '../observe/metrics/render.ts';
import { QueryLog } from '../observe/query-events/query-log.ts';
import { NO_RESOLVER, type Stats } from '../observe/stats.ts';
import { ClusterZone } from '../plugins/cluster-zone/cluster-zone.ts';
import { FederationZones } from '../plugins/federations/federation-zones.ts';
import { CacheHandover } from './cache-handover.ts';
import { ClusterObjects } from './cluster-objects.ts';
import { FollowedInterfaces } from './followed-interfaces.ts';
import { FollowedNetworks } from './followed-networks.ts';
import { type FrontEnd, logRefusals } from './front-end.ts';
import { endpointsOf, limitsOf } from './listen-plan.ts';
import { countCommonReaders, countReaders, groupsOf, ListenerGroups } from './listener-groups.ts';
import type { Dependencies } from './object-source.ts';
import { observeHandlers } from './observed-queries.ts';
import { judgeReadiness, judgeWithEtcd } from './readiness.ts';
import { moveServer, type ServerState } from './state.ts';

/** Milliseconds between checks of ports that another process serves. */
const SERVED_CHECK_INTERVAL = 1_000;

export interface ServerDependencies extends Dependencies {
  /** The front end's plugins; those of its first plan are loaded. */
  readonly plugins: PluginMaker;
  readonly startReader: StartThread;
  /** Called when the server serves. */
  readonly afterStart?: () => void;
  /** The built entry of the query log thread. */
  readonly queryLogEntry: URL;
  readonly version: string;
  /** Metrics of companions in Prometheus text format, appended to the server's own. */
  readonly furtherMetrics?: () => string;
}

export class Server {
  readonly #frontEnd: FrontEnd;
  /** The plan at start, for settings that are fixed for the process. */
  readonly #plan: ServerPlan;
  readonly #dependencies: ServerDependencies;
  readonly #engine: Engine;
  readonly #objects: ClusterObjects | undefined;
  readonly #health: HealthServer | undefined;
  readonly #events: QueryEventRings;
  readonly #queryLog: QueryLog;
  #state: ServerState = 'made';
  #starting: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  /** Resolves when the latest plan is in force or has failed. */
  #following: Promise<void> = Promise.resolve();
  /** Milliseconds, from the plan in force. */
  #lameduck: number;
  #listeners: Listeners | undefined;
  #interfaces: FollowedInterfaces | undefined;
  #groups: ListenerGroups | undefined;
  #networks: FollowedNetworks | undefined;
  /** Undefined: the cache is not handed over. */
  readonly #handover: CacheHandover | undefined;
  /** Ends the current wait of the start or of the lameduck time. */
  #hurry: () => void = () => {};

  /** @throws RangeError for a domain too long to leave room for services */
  constructor(frontEnd: FrontEnd, dependencies: ServerDependencies) {
    const { clock, log } = dependencies;
    this.#frontEnd = frontEnd;
    const { plan } = frontEnd;
    this.#plan = plan;
    this.#lameduck = plan.lameduck;
    this.#dependencies = dependencies;
    const connect = frontEnd.watching?.connect;
    this.#engine = new Engine(plan.engine, {
      ...dependencies,
      readers: countReaders(plan),
      ...(connect && { connect }),
    });
    this.#objects = this.#makeObjects(plan);
    this.#events = new QueryEventRings(plan.udpReaders);
    const threadEntry = dependencies.queryLogEntry;
    this.#queryLog = new QueryLog({ rings: this.#events, threadEntry, clock, log });
    this.#health = plan.http && this.#makeHealth(plan);
    const endpoints = endpointsOf(plan);
    const keepers = () => this.#engine.keepers;
    this.#handover =
      plan.takeover && endpoints.length > 0
        ? new CacheHandover({ endpoints, keepers, clock, log })
        : undefined;
  }

  /**
   * Resolves when the server serves. In a takeover it first waits until the cluster is listed, or for the timeout.
   *
   * @throws the reason why it cannot serve, with a remedy: NoClusterError, ClusterConfigurationError, FolderError,
   *   UnknownInterfaceError, PortInUseError, SocketError, AddressError, HttpServerError. `stop` must still be called.
   */
  start(): Promise<void> {
    this.#state = moveServer(this.#state, 'starting');
    this.#starting = this.#start();
    return this.#starting;
  }

  /** The version of the program. */
  get version(): string {
    return this.#dependencies.version;
  }

  /** The engine that answers queries. */
  get engine(): Engine {
    return this.#engine;
  }

  /** The current TCP connections. */
  get tcpConnections(): number {
    return this.#listeners?.tcp().open ?? 0;
  }

  readiness(): Readiness {
    const { isKnown } = this.#objects ?? { isKnown: true };
    const udp = this.#listeners?.udp();
    const server = judgeReadiness(this.#state, isKnown, this.#objects?.status(), udp);
    const readiness = judgeWithEtcd(server, this.#engine.count().etcd);
    if (!readiness.ready || this.#frontEnd.isSettled) return readiness;
    return { ready: false, reason: 'configmaps: not read yet' };
  }

  stats(): Stats {
    this.#engine.readerPath.catchUp();
    const { config, watches } = this.#frontEnd.stats();
    const objects = this.#objects?.stats();
    const { resolver = NO_RESOLVER, etcd } = this.#engine.count();
    return {
      ready: this.readiness().ready,
      queries: this.#engine.countQueries(),
      table: this.#engine.table.statistics(),
      dataAge: objects?.dataAge,
      etcd,
      watches: [...(objects?.watches ?? []), ...watches],
      resolver,
      forwarded: this.#engine.readerPath.countForwarded(),
      udp: this.#listeners?.udp(),
      tcp: this.#listeners?.tcp(),
      httpDrops: this.#health?.drops ?? NO_DROPS,
      queryLog: { dropped: this.#queryLog.dropped, failures: this.#queryLog.failures },
      snapshot: objects?.snapshot ?? etcd?.snapshot,
      manifests: objects?.manifests,
      config,
    };
  }

  /** The log of answered queries, which can change at run time. */
  get queryLog(): QueryLog {
    return this.#queryLog;
  }

  /** Clears the cache and rereads all followed files. No query is lost. */
  async reload(): Promise<void> {
    if (!this.#frontEnd.reloadsPlanAlone) {
      this.#clearCache();
      this.#engine.reload();
    }
    await this.#frontEnd.reload();
  }

  /** Reports not ready, serves for the lameduck time, finishes pending queries, and closes everything. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#state === 'serving') {
      this.#state = moveServer(this.#state, 'lameduck');
      await this.#frontEnd.leaving?.();
      if (this.#lameduck > 0) await this.#wait(this.#lameduck);
    }
    this.#state = moveServer(this.#state, 'draining');
    this.#hurry();
    this.#handover?.stop();
    this.#engine.serverBlocks.proceed();
    // The caller of `start` handles its errors.
    await this.#starting.catch(() => {});
    this.#interfaces?.stop();
    this.#networks?.stop();
    await this.#listeners?.stop();
    await this.#groups?.stop();
    await this.#frontEnd.stop();
    await this.#objects?.stop();
    this.#engine.stop();
    await this.#queryLog.stop();
    await this.#health?.stop();
    this.#state = moveServer(this.#state, 'stopped');
  }

  async #start(): Promise<void> {
    await this.#health?.start();
    await this.#frontEnd.open?.();
    await this.#queryLog.change(this.#plan.queryLog);
    const source = await this.#objects?.open();
    await this.#engine.start();
    await this.#frontEnd.start((plan, clearsCache) => this.#follow(plan, clearsCache), source);
    if (source !== undefined)
      this.#engine.find(FederationZones)?.followNodes((places) => source.followNodes(places));
    await this.#following;
    const { takeover } = this.#plan;
    if (!takeover) await this.#listen();
    if (this.#state !== 'starting') return;
    await this.#objects?.start();
    if (takeover) {
      await this.#untilKnown();
      await this.#untilUnserved();
      if (this.#state === 'starting') await this.#handover?.inherit();
      await this.#listen();
    }
    if (this.#state !== 'starting') return;
    this.#objects?.serving();
    this.#handover?.offer();
    this.#state = moveServer(this.#state, 'serving');
    this.#dependencies.afterStart?.();
    this.#followNetworks();
    this.#announce(source?.name);
  }

  /** Applies a new plan when interfaces change, if answers depend on them. */
  #followNetworks(): void {
    if (this.#plan.engine.blocks.every(({ clients }) => clients === undefined)) return;
    const { clock, log } = this.#dependencies;
    this.#networks = new FollowedNetworks(
      networkInterfaces,
      clock,
      () => void logRefusals((plan, clears) => this.#follow(plan, clears), log)(this.#frontEnd.plan, false),
    );
  }

  /** Resolves when the plan is in force or a later one has replaced it. @throws the reason why it cannot be applied */
  #follow(plan: ServerPlan, clearsCache: boolean): Promise<void> {
    const change = this.#change(plan, clearsCache);
    this.#following = change.catch(() => {});
    return change;
  }

  /** Builds the blocks and opens the sockets of a new plan beside the current ones, and then closes those. */
  async #change(plan: ServerPlan, clearsCache: boolean): Promise<void> {
    const { engine, lameduck } = plan;
    const blocks = await this.#engine.makeBlocks(engine);
    if (blocks === undefined) return;
    let before: typeof blocks | undefined;
    try {
      if (this.#stopping !== undefined) throw new Error('the server is stopping');
      await this.#groups?.add(groupsOf(plan));
      before = this.#engine.replaceBlocks(blocks);
    } catch (error) {
      await blocks.stop();
      // The front end keeps the current plan until the new one is in force.
      await this.#groups?.keepOnly(groupsOf(this.#frontEnd.plan), undefined);
      throw error;
    }
    this.#groups?.logBy(engine);
    this.#lameduck = lameduck;
    if (clearsCache) this.#clearCache();
    await this.#groups?.keepOnly(groupsOf(plan), before);
    void before.stop();
  }

  #clearCache(): void {
    this.#engine.clearCache();
    this.#dependencies.log.info('cleared cache');
  }

  #makeObjects({ objects, engine }: ServerPlan): ClusterObjects | undefined {
    const cluster = this.#engine.find(ClusterZone)?.cluster;
    const domain = optionsOf(engine.blocks[0], 'cluster-zone')?.domain;
    if (objects === undefined || domain === undefined || cluster === undefined) return undefined;
    return new ClusterObjects(objects, this.#engine, { cluster, domain }, this.#dependencies);
  }

  #makeHealth({ http, takeover: waitForPort }: ServerPlan): HealthServer | undefined {
    if (http === undefined) return undefined;
    const { clock, log, version, furtherMetrics = () => '' } = this.#dependencies;
    const { health, skyDnsMetrics } = http;
    const metrics = new Metrics({ version, skyDns: skyDnsMetrics }, () => this.stats());
    const objects = this.#objects;
    const answers = {
      readiness: () => this.readiness(),
      metrics: async () => (await metrics.render()) + furtherMetrics(),
      cache: health.cache && objects !== undefined ? () => objects.cacheTree() : undefined,
    };
    return new HealthServer({ ...health, waitForPort, metrics: skyDnsMetrics }, answers, clock, log);
  }

  async #listen(): Promise<void> {
    if (this.#state !== 'starting') return;
    const { startReader, clock, log } = this.#dependencies;
    const { listen, udpReaders, takeover, engine } = this.#plan;
    const { table } = this.#engine;
    if (listen.kind === 'groups') {
      const readers = { readers: countReaders(this.#plan), commonReaders: countCommonReaders(this.#plan) };
      const dependencies = { engine: this.#engine, takeover, startReader, log, clock };
      this.#groups = new ListenerGroups({ ...dependencies, ...readers });
      await this.#groups.add(listen.groups);
      this.#groups.logBy(engine);
      this.#engine.listening();
      return;
    }
    const listeners = new Listeners({
      udpReaders,
      udpSize: engine.udpSize,
      takeover,
      ...limitsOf(listen),
      ...this.#chooseAnswers(),
      onReaderDead: (dead) => table.readerDied(dead),
      startReader,
      events: this.#events,
      clock,
      log,
    });
    this.#listeners = listeners;
    if (listen.kind === 'interfaces') {
      const interfaces = networkInterfaces;
      this.#interfaces = new FollowedInterfaces({ plan: listen, interfaces, listeners, clock, log });
      await this.#interfaces.start();
    } else {
      const addresses = addressesToBind(listen.addresses, networkInterfaces());
      await listeners.open(addresses.map((address) => ({ address, port: listen.port })));
    }
    this.#engine.listening();
  }

  /** If queries are logged, handler answers are observed as they are made. */
  #chooseAnswers() {
    const engine = this.#engine;
    const { table, reader: answers, handleQuery, packetPath, readerPath: forwarding } = engine;
    const own = { table: table.memory, answers };
    const queryLog = this.#frontEnd.watching?.queryLog;
    if (queryLog === undefined) return { ...own, handleQuery, packetPath, forwarding };
    queryLog.start(this.#events);
    const admits = (client: Client) => engine.admits(client);
    const observed = observeHandlers(handleQuery, queryLog.observe, admits);
    return { ...own, handleQuery: observed, packetPath: undefined };
  }

  #untilKnown(): Promise<void> {
    const { objects } = this.#plan;
    if (objects === undefined) return Promise.resolve();
    const known = this.#wait(objects.initialSyncTimeout);
    // End only this wait, not a later one.
    const hurry = this.#hurry;
    this.#objects?.whenKnown(() => hurry());
    return known;
  }

  /** Waits while another process serves the ports and this one has not listed its cluster: the other one answers better. */
  async #untilUnserved(): Promise<void> {
    const { listen } = this.#plan;
    if (listen.kind !== 'addresses' || this.#objects === undefined) return;
    const endpoints = addressesToBind(listen.addresses, networkInterfaces()).map((address) => ({
      address,
      port: listen.port,
    }));
    let isTold = false;
    while (this.#state === 'starting' && !this.#objects.isKnown && isServed(endpoints)) {
      const reason = 'the cluster is not listed, and another process serves the port';
      if (!isTold) this.#dependencies.log.warn('sockets not opened', { reason });
      isTold = true;
      await this.#wait(SERVED_CHECK_INTERVAL);
    }
  }

  /** Waits for a time, or until the server is stopped. */
  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#dependencies.clock.after(milliseconds, resolve);
      this.#hurry = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #announce(source: string | undefined): void {
    this.#frontEnd.announce({
      source,
      addresses: this.#listeners?.addresses.join(',') ?? '',
      udpReaders: this.#listeners?.udp().readers.length ?? 0,
      healthPort: this.#health?.port,
      metricsPort: this.#health?.metricsPort,
    });
  }
}
