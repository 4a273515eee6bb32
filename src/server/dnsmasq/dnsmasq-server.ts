/**
 * A plan of dnsmasq's options brought to life, with what dnsmasq does on its signals.
 */
import type { DnsmasqPlan } from '../../config/dnsmasq/plan.ts';
import { connectBySockets } from '../../forward/connect.ts';
import type { UpstreamAddress } from '../../forward/upstream-address.ts';
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { DnsmasqAnswers, NO_FILES_READ } from './dnsmasq-answers.ts';
import { DnsmasqListeners } from './dnsmasq-listeners.ts';
import type { ChangingServers, NannyServers } from './forward-plan.ts';
import { type Interfaces, isListeningAt } from './interface-choice.ts';
import { LocalService } from './local-service.ts';
import { QueryLog } from './query-log.ts';
import { describeStatistics } from './statistics.ts';
import { tellQueries } from './told-queries.ts';
import { UpstreamSources } from './upstream-sources.ts';
import { type Watcher, watchAnswers } from './watched-answers.ts';

export interface DnsmasqSurroundings {
  readonly interfaces: () => Interfaces;
  /** The built code of a reader thread. */
  readonly readerEntry: URL;
  readonly udpReaders: number;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

export class DnsmasqServer {
  readonly #plan: DnsmasqPlan;
  readonly #surroundings: DnsmasqSurroundings;
  readonly #answers: DnsmasqAnswers;
  readonly #listeners: DnsmasqListeners;
  readonly #upstreams: UpstreamSources;
  #servers: ChangingServers;

  constructor(plan: DnsmasqPlan, surroundings: DnsmasqSurroundings) {
    const { interfaces, readerEntry, udpReaders, version, clock, log } = surroundings;
    this.#plan = plan;
    this.#surroundings = surroundings;
    const queryLog =
      plan.log.queries === 'off'
        ? undefined
        : new QueryLog(plan.log.queries, (record) => this.#answers.fileOf(record), log);
    const connect = queryLog === undefined ? connectBySockets : tellQueries(connectBySockets, queryLog);
    this.#answers = new DnsmasqAnswers({ plan, udpReaders, version, interfaces, connect, clock, log });
    const { table } = this.#answers;
    this.#listeners = new DnsmasqListeners({
      ...{ plan: plan.listen, interfaces, udpReaders, readerEntry, clock, log },
      ...this.#chooseAnswers(queryLog),
      onReaderDead: (dead) => table.readerDied(dead),
    });
    const isOurselves = ({ host, port }: UpstreamAddress) =>
      host.kind === 'address' && isListeningAt(plan.listen, interfaces(), { address: host.address, port });
    this.#servers = { ...NO_FILES_READ, isOurselves };
    this.#upstreams = new UpstreamSources({
      ...{ plan: plan.upstreams, isOurselves, clock, log },
      onChange: (servers, isReload) => {
        this.#servers = { ...this.#servers, ...servers };
        this.#answers.follow(this.#servers);
        if (isReload && plan.cache.clearsOnReload) this.#clearCache();
      },
    });
  }

  /**
   * Ends when it serves.
   *
   * @throws UnknownInterfaceError, PortInUseError, SocketError, AddressError. `stop` must be called then too.
   */
  async start(): Promise<void> {
    const { port } = this.#plan.listen;
    const { version, log } = this.#surroundings;
    await this.#answers.readHosts();
    await this.#upstreams.start();
    await this.#listeners.open();
    const cache = port === 0 ? 'DNS disabled' : `cachesize ${this.#plan.cache.size}`;
    log.info(`started, version portolan-${version} ${cache}`);
    this.#answers.start();
  }

  /** Follows the servers of the nanny's folder. */
  followNanny(nanny: NannyServers): void {
    this.#servers = { ...this.#servers, nanny };
    this.#answers.follow(this.#servers);
  }

  /** SIGHUP: the cache is cleared, files of hosts and servers are read again. The configuration is not. */
  reload(): void {
    this.#clearCache();
    this.#answers.rereadHosts();
    void this.#upstreams.reload();
  }

  /** SIGUSR1: the statistics go to the log. */
  report(): void {
    const { clock, log } = this.#surroundings;
    const statistics = {
      ...this.#answers.statistics(),
      connections: this.#listeners.connections,
      mostConnections: this.#plan.listen.maxTcpConnections,
    };
    for (const line of describeStatistics(statistics, Math.floor(clock.now() / 1000))) log.info(line);
  }

  async stop(): Promise<void> {
    this.#upstreams.stop();
    await this.#listeners.stop();
    this.#answers.stop();
  }

  /** Where somebody looks at every query, readers must not answer by themselves. */
  #chooseAnswers(queryLog: QueryLog | undefined) {
    const { table, reader, answerSlowly, answerInOctets } = this.#answers;
    const { interfaces, udpReaders, clock, log } = this.#surroundings;
    const { localService, ednsPacketMax: udpLimit } = this.#plan.listen;
    const watchers: readonly Watcher[] = [
      ...(localService ? [new LocalService(interfaces, clock, log)] : []),
      ...(queryLog === undefined ? [] : [queryLog]),
    ];
    if (watchers.length === 0) return { table: table.memory, answers: reader, answerSlowly, answerInOctets };
    return watchAnswers({ watchers, answers: reader, answerSlowly, udpLimit, udpReaders, clock, log });
  }

  #clearCache(): void {
    this.#answers.clearCache();
    this.#surroundings.log.info('cleared cache');
  }
}
