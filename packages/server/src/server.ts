/**
 * Runs a plan as a server: start order, readiness, statistics, changes, drain and stop.
 *
 * Start order: find the source of objects, read the snapshot and the followed settings, open the sockets, follow the objects. In a
 * takeover the sockets come last, once this process can answer as well as the one it replaces.
 */
import { networkInterfaces } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { type EtcdStatistics, findEtcdStatistics } from '@portolan/etcd/plugins/etcd/etcd-statistics.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { reportShortage } from '@portolan/kernel/base/descriptors.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import type { MetricFamily } from '@portolan/kernel/base/metrics/family.ts';
import { writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import type { Client } from '@portolan/kernel/chain/query.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { QueryLines } from '@portolan/kernel/contract/services.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import { addressesToBind } from '@portolan/kernel/listen/local-addresses.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { EventTap } from '@portolan/kernel/listen/query-events/event-tap.ts';
import { isServed } from '@portolan/kernel/listen/udp.ts';
import type { UdpCounts } from '@portolan/kernel/listen/udp-listener.ts';
import type { StartThread } from '@portolan/kernel/listen/udp-reader.ts';
import { countAnswered } from '@portolan/kernel/table/counter-sums.ts';
import { FederationZones } from '@portolan/kubernetes/plugins/federations/federation-zones.ts';
import { clustersIn, findClusterToFill } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import { CacheHandover } from './cache-handover.ts';
import { observeHandlers } from './chain-observer.ts';
import { ClusterObjects } from './cluster-objects.ts';
import { CorefileLogRings } from './corefile-log-rings.ts';
import { serveOn } from './drain.ts';
import { type ServerFacts, ServerFindings } from './findings.ts';
import { FollowedInterfaces } from './followed-interfaces.ts';
import { type FollowedKind, listKinds } from './followed-kinds.ts';
import { FollowedNetworks } from './followed-networks.ts';
import { type FrontEnd, logRefusals } from './front-end.ts';
import {
  followedGroups,
  ListenerGroups,
  type ListenerGroupsDependencies,
  listEndpoints,
} from './listener-groups.ts';
import type { Dependencies, ObjectSource } from './object-source.ts';
import { HEALTH_PORT, healthPorts, METRICS_PORT, type Readiness } from './observe/health.ts';
import type { HttpHost, HttpPort } from './observe/http-host.ts';
import { Metrics } from './observe/metrics/render.ts';
import { ERROR_NOTE } from './observe/query-events/coredns-lines.ts';
import { logLines } from './observe/query-events/dnsmasq-lines.ts';
import type { QueryLine } from './observe/query-events/event-lines.ts';
import { type LoggedRings, QueryLog } from './observe/query-events/query-log.ts';
import { NO_CACHE, type Stats } from './observe/stats.ts';
import { countCommonReaders, countReaders } from './plan/count-readers.ts';
import type { ServerPlan } from './plan/server-plan.ts';
import { PLUGIN_SERVICES } from './plugin-services/plugin-services.ts';
import { findUdpFault, judgeReadiness, judgeWithEtcd, noteFindings } from './readiness.ts';
import { moveServer, type ServerState } from './state.ts';
import { WrongClusterDomains } from './wrong-cluster-domain.ts';

/** Milliseconds between checks of ports that another process serves. */
const SERVED_CHECK_INTERVAL = 1_000;

export interface ServerDependencies extends Dependencies {
  readonly startReader: StartThread;
  /** Of the process: companions have their ports there too. */
  readonly http: HttpHost;
  /** Called when the server serves. */
  readonly afterStart?: () => void;
  /** The built entry of the query log thread. */
  readonly queryLogEntry: URL;
  readonly version: string;
  /** How many bundles of the program were loaded with a code cache, without one, or with one that V8 rejected. */
  readonly codeCaches?: Stats['codeCaches'];
  /** Metrics of companions, shown after the server's own. */
  readonly furtherMetrics?: () => readonly MetricFamily[];
}

export class Server {
  readonly #frontEnd: FrontEnd;
  /** The plan at start, for settings that are fixed for the process. */
  readonly #plan: ServerPlan;
  /** Kept, since front ends may compile theirs whenever it is read. */
  #planInForce: ServerPlan;
  readonly #dependencies: ServerDependencies;
  readonly #engine: Engine;
  readonly #foreignDomains: WrongClusterDomains;
  readonly #objects: ClusterObjects | undefined;
  readonly #events: QueryEventRings;
  /** Under a Corefile, groups have rings of their own. */
  readonly #groupEvents: CorefileLogRings | undefined;
  readonly #queryLog: QueryLog;
  /** The query log of the latest plan. */
  #plannedLog: ServerPlan['queryLog'];
  /** What the server finds wrong with itself and its cluster. */
  readonly findings: ServerFindings;
  #state: ServerState = 'made';
  #starting: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  /** Resolves when the latest plan is in force or has failed. */
  #following: Promise<void> = Promise.resolve();
  /** Called with each plan that comes into force; undefined: the server stops. */
  #followPlan: (plan: ServerPlan | undefined) => void = () => {};
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
    this.#planInForce = plan;
    this.#plannedLog = plan.queryLog;
    this.#dependencies = dependencies;
    const connect = frontEnd.watching?.connect;
    const isLoggedByPlugins = plan.queryLines === 'plugins';
    this.#engine = new Engine(plan.engine, {
      ...dependencies,
      services: PLUGIN_SERVICES,
      readers: countReaders(plan),
      ...(isLoggedByPlugins && { queryLog: this.#queryLines() }),
      ...(connect && { connect }),
    });
    this.#foreignDomains = new WrongClusterDomains(clock);
    this.#engine.table.observeCached((...entry) => this.#foreignDomains.observe(...entry));
    this.#objects = this.#makeObjects(plan);
    this.#events = new QueryEventRings(isLoggedByPlugins ? 0 : countReaders(plan));
    this.#groupEvents = isLoggedByPlugins
      ? new CorefileLogRings(this.#events, (rings) => this.#logAbout(rings))
      : undefined;
    this.findings = new ServerFindings(() => this.#readFacts(), clock, log);
    this.tap = new EventTap(() => [this.#events, ...(this.#groupEvents?.rings ?? [])], clock);
    const threadEntry = dependencies.queryLogEntry;
    const say = (lines: readonly QueryLine[]) =>
      logLines(lines, this.#dependencies.log, this.#frontEnd.watching?.queryLog.findHostsFile);
    this.#queryLog = new QueryLog(this.#events, { threadEntry, say, clock, log });
    const endpoints = listEndpoints(plan);
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
    reportShortage(this.#dependencies.log);
    this.#starting = this.#start();
    return this.#starting;
  }

  /** The version of the program. */
  get version(): string {
    return this.#dependencies.version;
  }

  /** The plan in force. */
  get plan(): ServerPlan {
    return this.#planInForce;
  }

  /** Calls `follow` with each plan that is in force from now on, and with undefined when the server stops. One may follow. */
  followPlan(follow: (plan: ServerPlan | undefined) => void): void {
    this.#followPlan = follow;
  }

  /** What is missing before names of the cluster may be denied; undefined: nothing, or there is no cluster of the server's own. */
  get missing(): readonly string[] | undefined {
    return this.#objects?.isKnown === false ? (this.#objects.status()?.reasons ?? []) : undefined;
  }

  /** Milliseconds since the oldest data of a cluster was known to be current; undefined: unknown, or always current. */
  get dataAge(): number | undefined {
    return this.#readDataAge(this.#engine.serverBlocks.inspect());
  }

  #readDataAge(inspections: readonly PluginInspection[]): number | undefined {
    const ofPlugins = clustersIn(inspections).map(({ status }) => status?.age);
    const ages = [this.#objects?.stats().dataAge, ...ofPlugins].filter((age) => age !== undefined);
    return ages.length === 0 ? undefined : Math.max(...ages);
  }

  /** What is wrong with the latest configuration, so that an earlier one is in force; empty: nothing. */
  get rejected(): readonly string[] {
    const { config, problems = [] } = this.#frontEnd.stats();
    return [...(config?.problems ?? []), ...problems];
  }

  /** How each kind of object is followed. */
  get kinds(): readonly FollowedKind[] {
    return this.#readKinds(this.#engine.serverBlocks.inspect());
  }

  #readKinds(inspections: readonly PluginInspection[]): readonly FollowedKind[] {
    const watches = [...(this.#objects?.stats().watches ?? []), ...this.#frontEnd.stats().watches];
    return listKinds(inspections, watches, this.#objects?.status()?.reasons ?? []);
  }

  /** The engine that answers queries. */
  get engine(): Engine {
    return this.#engine;
  }

  /** Where clients are answered over UDP: `127.0.0.1:53`. */
  get addresses(): readonly string[] {
    return this.#groups?.addresses ?? [];
  }

  /** The current TCP connections. */
  get tcpConnections(): number {
    return this.#groups?.tcp().open ?? 0;
  }

  /** Why clients that ask over UDP may get no answer; undefined: nothing is known to be wrong. */
  get udpFault(): string | undefined {
    return findUdpFault(this.#groups?.udp());
  }

  readiness(): Readiness {
    const readiness = this.plainReadiness();
    return readiness.ready ? noteFindings(readiness, this.findings.current()) : readiness;
  }

  /** Without the notes of findings, which are computed each time. */
  plainReadiness(): Readiness {
    const etcd = findEtcdStatistics(this.#engine.serverBlocks.inspect());
    return this.#judge(this.#groups?.udp(), etcd);
  }

  /** Without regard to findings. */
  #judge(udp: UdpCounts | undefined, etcd: EtcdStatistics | undefined): Readiness {
    const { isKnown } = this.#objects ?? { isKnown: true };
    const server = judgeReadiness(this.#state, isKnown, this.#objects?.status(), udp);
    const readiness = judgeWithEtcd(server, etcd);
    if (!readiness.ready || this.#frontEnd.isSettled) return readiness;
    return { ready: false, reason: 'configmaps: not read yet' };
  }

  stats(): Stats {
    this.#engine.readerPath.catchUp();
    const { config, watches } = this.#frontEnd.stats();
    const objects = this.#objects?.stats();
    const { cache = NO_CACHE } = this.#engine.count();
    const etcd = findEtcdStatistics(this.#engine.serverBlocks.inspect());
    const udp = this.#groups?.udp();
    const findings = this.findings.current();
    const readiness = noteFindings(this.#judge(udp, etcd), findings);
    return {
      ready: readiness.ready,
      reason: readiness.ready ? readiness.note : readiness.reason,
      findings,
      losses: this.#engine.losses.count(),
      searches: this.plan.keepsStatistics === true ? this.tap.searches : undefined,
      foreignDenials: this.#foreignDomains.denials,
      queries: this.#engine.countQueries(),
      table: this.#engine.table.statistics(),
      dataAge: objects?.dataAge,
      etcd,
      watches: [...(objects?.watches ?? []), ...watches],
      cache,
      forward: this.#engine.forwardTally.count(),
      forwarded: this.#engine.readerPath.countForwarded(),
      udp,
      tcp: this.#groups?.tcp(),
      httpDrops: this.#dependencies.http.drops,
      queryLog: { dropped: this.#queryLog.dropped, failures: this.#queryLog.failures },
      snapshot: objects?.snapshot ?? etcd?.snapshot,
      manifests: objects?.manifests,
      config,
      codeCaches: this.#dependencies.codeCaches,
    };
  }

  /** The queries that are answered, while somebody watches. */
  readonly tap: EventTap;

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
      const countQueries = () => countAnswered(this.#engine.countQueries());
      const wait = (milliseconds: number) => this.#wait(milliseconds);
      await serveOn(this.plan, { countQueries, wait, ...this.#dependencies });
    }
    this.#state = moveServer(this.#state, 'draining');
    this.#hurry();
    this.#handover?.stop();
    this.#followPlan(undefined);
    this.findings.stop();
    this.#engine.serverBlocks.proceed();
    // The caller of `start` handles its errors.
    await this.#starting.catch(() => {});
    this.#interfaces?.stop();
    this.#networks?.stop();
    await this.#groups?.stop();
    await this.#frontEnd.stop();
    await this.#objects?.stop();
    // Its last lines are explained by the engine.
    await this.#queryLog.stop();
    await this.#engine.stop();
    await this.#dependencies.http.close([HEALTH_PORT, METRICS_PORT]);
    this.#state = moveServer(this.#state, 'stopped');
  }

  async #start(): Promise<void> {
    for (const port of this.#listHttpPorts()) await this.#dependencies.http.open(port);
    await this.#frontEnd.open?.();
    await this.#startQueryLog();
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
    this.#followPlan(this.#planInForce);
    this.#followNetworks();
    if (!this.#plan.engine.restored.has('findings')) this.findings.start();
    this.#announce(source);
  }

  async #startQueryLog(): Promise<void> {
    const watching = this.#frontEnd.watching?.queryLog;
    if (watching !== undefined) {
      await this.#queryLog.follow([{ rings: this.#events, lines: watching.lines }]);
      watching.start((line, number) => {
        if (!this.#queryLog.note(line, number)) this.#dependencies.log.info(line);
      });
    }
    this.#groupEvents?.follow(this.#plan.engine);
    // It waits for the thread, if groups are logged.
    await this.#queryLog.change(this.#plan.queryLog);
  }

  /** Follows another query log of the plan. One that was switched on by the control socket stays until then. */
  async #logBy({ queryLog }: ServerPlan): Promise<void> {
    if (isDeepStrictEqual(queryLog, this.#plannedLog)) return;
    this.#plannedLog = queryLog;
    await this.#queryLog.change(queryLog).catch((error: unknown) => this.#failToLog(error));
  }

  #failToLog(error: unknown): void {
    this.#dependencies.log.error('query log not changed', { reason: describeError(error) });
  }

  /** Those of plugins have their place among those of readers. */
  #queryLines(): QueryLines {
    const { log } = this.#dependencies;
    return {
      info: (line) => this.#queryLog.note(line) || log.info(line),
      error: (line) => this.#queryLog.note(line, ERROR_NOTE) || log.error(line),
    };
  }

  /** Logs queries of listener groups, by the plugin `log`. */
  #logAbout(rings: readonly LoggedRings[]): void {
    this.#queryLog.follow(rings).catch((error: unknown) => this.#failToLog(error));
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
    const { engine } = plan;
    const blocks = await this.#engine.makeBlocks(engine);
    if (blocks === undefined) return;
    let before: typeof blocks | undefined;
    try {
      if (this.#stopping !== undefined) throw new Error('the server is stopping');
      await this.#groups?.add(followedGroups(plan), blocks);
      before = this.#engine.replaceBlocks(blocks);
      this.#planInForce = plan;
    } catch (error) {
      await blocks.stop();
      await this.#groups?.keepOnly(this.#planInForce.listen.groups, undefined);
      throw error;
    }
    this.#groupEvents?.follow(engine);
    this.#groups?.ruleBy(plan.listen.groups);
    await this.#logBy(plan);
    if (clearsCache) this.#clearCache();
    await this.#groups?.keepOnly(plan.listen.groups, before);
    if (this.#state === 'serving') this.#followPlan(plan);
    void before.stop();
  }

  #clearCache(): void {
    this.#engine.clearCache();
    this.#dependencies.log.info('cleared cache');
  }

  #makeObjects({ objects }: ServerPlan): ClusterObjects | undefined {
    const cluster = findClusterToFill(this.#engine.serverBlocks.inspect());
    if (objects === undefined || cluster === undefined) return undefined;
    return new ClusterObjects(objects, this.#engine, cluster, this.#dependencies);
  }

  #readFacts(): ServerFacts {
    const inspections = this.#engine.serverBlocks.inspect();
    return {
      inspections,
      dataAge: this.#readDataAge(inspections),
      kinds: this.#readKinds(inspections),
      losses: this.#engine.losses.list(),
      rejected: this.rejected,
      missingRules: this.#frontEnd.stats().missingRules,
      foreignDomains: this.#foreignDomains,
    };
  }

  #listHttpPorts(): readonly HttpPort[] {
    const { http, takeover: waitForPort } = this.#plan;
    if (http === undefined) return [];
    const { clock, version, furtherMetrics = () => [] } = this.#dependencies;
    const { health, skyDnsMetrics } = http;
    const metrics = new Metrics({ version, skyDns: skyDnsMetrics }, () => this.stats());
    const objects = this.#objects;
    const answers = {
      readiness: () => this.readiness(),
      isEnding: () => !['made', 'starting', 'serving'].includes(this.#state),
      metrics: () => metrics.render() + writeSortedFamilies(furtherMetrics()),
      cache: health.cache && objects !== undefined ? () => objects.cacheTree() : undefined,
    };
    const { address, port } = health;
    // It is not shared in a takeover: a probe would reach the process that is not ready yet.
    return healthPorts({ address, port, waitForPort, metrics: skyDnsMetrics }, answers, clock);
  }

  async #listen(): Promise<void> {
    if (this.#state !== 'starting') return;
    const { startReader, clock, log } = this.#dependencies;
    const { listen, takeover, engine } = this.#plan;
    const groups = new ListenerGroups({
      engine: this.#engine,
      takeover,
      startReader,
      udpSize: engine.udpSize,
      givesOfferedSize: engine.restored.has('udp-size-bound'),
      udpCoalesce: listen.udpCoalesce,
      timeouts: listen.timeouts,
      log,
      clock,
      readers: countReaders(this.#plan),
      commonReaders: countCommonReaders(this.#plan),
      // CoreDNS logs nothing of them.
      socketLog: this.#plan.queryLines === 'plugins' ? silentLog : log,
      events: this.#events,
      groupEvents: this.#groupEvents,
      ...this.#chooseAnswers(),
    });
    this.#groups = groups;
    await this.#openSockets(groups);
    this.#engine.listening();
  }

  async #openSockets(groups: ListenerGroups): Promise<void> {
    const { clock, log } = this.#dependencies;
    const { listen } = this.#plan;
    const [group] = listen.groups;
    if (listen.interfaces === undefined || group === undefined) {
      await groups.add(listen.groups);
      return;
    }
    this.#interfaces = new FollowedInterfaces({
      plan: listen.interfaces,
      interfaces: networkInterfaces,
      clock,
      log,
      open: (addresses) => groups.add([{ ...group, addresses }]),
      openLater: (address) => groups.openLater(group, address),
      addresses: () => groups.addresses,
    });
    await this.#interfaces.start();
  }

  /** If queries are logged, handler answers are observed as they are made. */
  #chooseAnswers(): Pick<ListenerGroupsDependencies, 'forwarding' | 'wrap'> {
    const engine = this.#engine;
    const queryLog = this.#frontEnd.watching?.queryLog;
    if (queryLog === undefined) return { forwarding: engine.readerPath };
    const admits = (client: Client) => engine.admits(client);
    return {
      forwarding: undefined,
      wrap: (handleQuery) => observeHandlers(handleQuery, queryLog.observe, admits),
    };
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
    const { groups } = this.#plan.listen;
    if (this.#objects === undefined) return;
    const endpoints = groups.flatMap(({ addresses = [], port }) =>
      addressesToBind(addresses, networkInterfaces()).map((address) => ({ address, port })),
    );
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

  #announce(source: ObjectSource | undefined): void {
    this.#frontEnd.announce({
      source: source?.name,
      manifests: source?.status().manifests,
      addresses: this.addresses.join(','),
      udpReaders: this.#groups?.udp().readers.length ?? 0,
      healthPort: this.#dependencies.http.findPort(HEALTH_PORT),
      metricsPort: this.#dependencies.http.findPort(METRICS_PORT),
    });
  }
}
