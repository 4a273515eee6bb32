/**
 * A plan brought to life: start order, readiness, figures, drain and stop.
 *
 * Start: the source of objects is found, the snapshot and the list of upstream servers are read, sockets are opened, objects
 * are followed. In a takeover the sockets come last, when there is nothing left that would be answered worse than by the
 * process that is taken over.
 */
import { formatDuration } from '../config/duration.ts';
import type { ServerPlan } from '../config/plan.ts';
import type { Timer } from '../ground/clock.ts';
import type { Figures, WatchFigures } from '../observe/figures.ts';
import { HealthServer, type Readiness } from '../observe/health.ts';
import { Metrics } from '../observe/metrics/render.ts';
import { ClusterAnswers } from './cluster-answers.ts';
import { DynamicConfig } from './kube-dns/dynamic-config.ts';
import { type Listeners, openListeners } from './listeners.ts';
import { type ObjectSource, openObjectSource, type Surroundings } from './object-source.ts';
import { judgeReadiness } from './readiness.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import { moveServer, type ServerState } from './state.ts';

export interface ServerSurroundings extends Surroundings {
  /** The built code of a reader thread. */
  readonly readerEntry: URL;
  readonly version: string;
}

export class Server {
  readonly #plan: ServerPlan;
  readonly #surroundings: ServerSurroundings;
  readonly #answers: ClusterAnswers;
  readonly #dynamic: DynamicConfig;
  readonly #health: HealthServer;
  #state: ServerState = 'made';
  #starting: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  #source: ObjectSource | undefined;
  #snapshot: SnapshotKeeper | undefined;
  #listeners: Listeners | undefined;
  #syncTimer: Timer | undefined;
  /** Ends a wait of the start or of the lameduck time. */
  #hurry: () => void = () => {};

  /** @throws RangeError for a domain that leaves no room for services */
  constructor(plan: ServerPlan, surroundings: ServerSurroundings) {
    const { clock, log, version } = surroundings;
    this.#plan = plan;
    this.#surroundings = surroundings;
    this.#answers = new ClusterAnswers(plan, version, clock, log);
    this.#dynamic = new DynamicConfig({
      plan: plan.dynamic,
      onChange: (config) => this.#answers.followConfig(config),
      file: plan.snapshotFile === undefined ? undefined : `${plan.snapshotFile}.config`,
      ...{ domain: plan.cluster.domain, clock, log },
    });
    const { health, skyDnsMetrics } = plan;
    const metrics = new Metrics({ version, skyDns: skyDnsMetrics }, () => this.figures());
    const paths = {
      readiness: () => this.readiness(),
      metrics: () => metrics.render(),
      cache: health.cache ? () => this.#answers.cluster.cacheTree() : undefined,
    };
    const waitForPort = plan.listen.takeover;
    this.#health = new HealthServer({ ...health, waitForPort, metrics: skyDnsMetrics }, paths, clock, log);
  }

  /**
   * Ends when the server serves; in a takeover that is when the cluster is listed, or should have been.
   *
   * @throws what keeps it from serving, each with its remedy: NoClusterError, ClusterConfigurationError, FolderError,
   *   PortInUseError, SocketError, HttpServerError. `stop` must be called then too.
   */
  start(): Promise<void> {
    this.#state = moveServer(this.#state, 'starting');
    this.#starting = this.#start();
    return this.#starting;
  }

  readiness(): Readiness {
    const readiness = judgeReadiness(this.#state, this.#answers.cluster.isKnown, this.#source?.status());
    if (!readiness.ready || this.#dynamic.isSettled) return readiness;
    return { ready: false, reason: 'configmaps: not read yet' };
  }

  figures(): Figures {
    const status = this.#source?.status();
    return {
      ready: this.readiness().ready,
      queries: this.#answers.countQueries(),
      table: this.#answers.table.statistics(),
      dataAge: status?.age,
      watches: [...(status?.watches ?? []), ...this.#followed()],
      resolver: this.#answers.outside.figures(),
      udp: this.#listeners?.udp(),
      tcp: this.#listeners?.tcp(),
      snapshot: this.#snapshot?.count(),
      manifests: status?.manifests,
      config: this.#dynamic.figures(),
    };
  }

  /** Says that it is not ready, serves on for the lameduck time, finishes what it was asked, and closes everything. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#state === 'serving') {
      this.#state = moveServer(this.#state, 'lameduck');
      await this.#wait(this.#plan.lameduck);
    }
    this.#state = moveServer(this.#state, 'draining');
    this.#hurry();
    this.#syncTimer?.cancel();
    // What it fails with is for whoever has started it.
    await this.#starting.catch(() => {});
    await this.#listeners?.stop();
    await this.#dynamic.stop();
    await this.#answers.federations.stop();
    await this.#source?.stop();
    await this.#snapshot?.stop();
    this.#answers.stop();
    await this.#health.stop();
    this.#state = moveServer(this.#state, 'stopped');
  }

  async #start(): Promise<void> {
    const { cluster, listen } = this.#plan;
    await this.#health.start();
    this.#source = await openObjectSource(cluster.objects, this.#answers.endpointsFrom, this.#surroundings);
    await this.#restore(this.#source);
    await this.#answers.outside.start();
    await this.#followSettings(this.#source);
    if (!listen.takeover) await this.#listen();
    if (this.#state !== 'starting') return;
    await this.#source.start(this.#answers.sinks);
    this.#watchTheClock();
    if (listen.takeover) {
      await this.#untilKnown();
      await this.#listen();
    }
    if (this.#state !== 'starting') return;
    this.#snapshot?.start();
    this.#state = moveServer(this.#state, 'serving');
    this.#announce(this.#source);
  }

  async #followSettings(source: ObjectSource): Promise<void> {
    this.#answers.federations.start((places) => source.followNodes(places));
    await this.#dynamic.start(source);
  }

  /** What is followed beside the objects of the zone. */
  #followed(): readonly WatchFigures[] {
    const all = [this.#dynamic.following, this.#answers.federations.following];
    return all.flatMap((following) => following?.status() ?? []);
  }

  async #restore({ name }: ObjectSource): Promise<void> {
    const { snapshotFile, cluster } = this.#plan;
    if (snapshotFile === undefined) return;
    this.#snapshot = new SnapshotKeeper({
      file: snapshotFile,
      owner: { domain: cluster.domain, source: name },
      generation: () => this.#answers.cluster.generation,
      state: () => this.#answers.snapshot(),
      clock: this.#surroundings.clock,
      log: this.#surroundings.log,
    });
    const reason = this.#answers.restore(await this.#snapshot.read());
    if (reason !== undefined) this.#snapshot.reject(reason);
  }

  async #listen(): Promise<void> {
    if (this.#state !== 'starting') return;
    const { readerEntry, clock, log } = this.#surroundings;
    const { table, reader, answerSlowly, answerInOctets } = this.#answers;
    this.#listeners = await openListeners({
      plan: this.#plan.listen,
      table: table.memory,
      answers: reader,
      answerSlowly,
      answerInOctets,
      onReaderDead: (dead) => table.readerDied(dead),
      readerEntry,
      clock,
      log,
    });
    this.#answers.outside.listening();
  }

  /** A cluster that is not listed in time is an error, and no reason to give up. */
  #watchTheClock(): void {
    const { clock, log } = this.#surroundings;
    const { initialSyncTimeout } = this.#plan;
    const began = clock.monotonic();
    this.#syncTimer = clock.after(initialSyncTimeout, () => {
      const reason = this.#source?.status().reasons.join('; ');
      const after = formatDuration(initialSyncTimeout);
      log.error('cluster not listed yet, serving what is known and trying on', { after, reason });
    });
    this.#answers.cluster.whenKnown(() => {
      this.#syncTimer?.cancel();
      const { nodes } = this.#answers.table.statistics();
      log.info('cluster listed', { seconds: Math.round(clock.monotonic() - began) / 1000, names: nodes });
    });
  }

  #untilKnown(): Promise<void> {
    const known = this.#wait(this.#plan.initialSyncTimeout);
    // This wait and no later one.
    const hurry = this.#hurry;
    this.#answers.cluster.whenKnown(() => hurry());
    return known;
  }

  /** Waits for a time, or until somebody is in a hurry. */
  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#surroundings.clock.after(milliseconds, resolve);
      this.#hurry = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #announce(source: ObjectSource): void {
    const { cluster, health, skyDnsMetrics } = this.#plan;
    this.#surroundings.log.info('serving', {
      zone: cluster.domain,
      from: source.name,
      addresses: this.#listeners?.addresses,
      readers: this.#listeners?.udpReaders,
      dialect: cluster.dialect,
      pods: cluster.pods,
      health: httpAddress(health.address, this.#health.port),
      metrics: httpAddress(skyDnsMetrics?.address, this.#health.metricsPort),
      version: this.#surroundings.version,
    });
  }
}

/** Where a client on this machine finds the port; nothing while it is not open. */
function httpAddress(address: string | undefined, port: number | undefined): string | undefined {
  if (port === undefined) return undefined;
  const host = address ?? '127.0.0.1';
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
