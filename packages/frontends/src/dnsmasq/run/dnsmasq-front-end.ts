/**
 * The front end of `dnsmasq` and `dnsmasq-nanny`: dnsmasq's options, resolv files, a servers file, and the nanny's servers.
 */
import type { ResourceRecord } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { connectBySockets } from '@portolan/kernel/forward/connect.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { type Interfaces, isListeningAt } from '@portolan/kernel/listen/local-addresses.ts';
import { chooseAddresses } from '@portolan/server/chosen-addresses.ts';
import {
  type FrontEnd,
  type FrontEndStats,
  logRefusals,
  type PlanListener,
  type Watching,
} from '@portolan/server/front-end.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { type ExtraPlugins, NO_EXTRA_PLUGINS } from '../../blocks-extra/extra-plugins.ts';
import { compileDnsmasq } from '../settings/compile-dnsmasq.ts';
import type { DnsmasqPlan } from '../settings/dnsmasq-plan.ts';
import type { DnsmasqInputs, NannyServers } from '../settings/forward-plan.ts';
import { DnsmasqQueryLog } from './query-log.ts';
import { reportQueries } from './upstream-query-log.ts';
import { UpstreamSources } from './upstream-sources.ts';

export interface DnsmasqFrontEndDependencies {
  readonly interfaces: () => Interfaces;
  readonly udpReaders: number;
  readonly version: string;
  /** Until when after the stop signal to answer on while queries arrive: milliseconds. Default: 0. */
  readonly drain?: number;
  /** The hosts file of a local record, for the query log; undefined if an option defines it. */
  readonly findHostsFile: (record: ResourceRecord) => string | undefined;
  /** Plugins of `--blocks-extra`. Default: none. */
  readonly extra?: ExtraPlugins;
  readonly clock: Clock;
  readonly log: Log;
}

export class DnsmasqFrontEnd implements FrontEnd {
  readonly watching: Watching | undefined;
  readonly reloadsPlanAlone = false;
  /** All files are read before queries are answered. */
  readonly isSettled = true;
  readonly #settings: DnsmasqPlan;
  readonly #dependencies: DnsmasqFrontEndDependencies;
  readonly #upstreams: UpstreamSources;
  readonly #extra: ExtraPlugins;
  #servers: DnsmasqInputs;
  #onChange: PlanListener = async () => {};

  constructor(settings: DnsmasqPlan, dependencies: DnsmasqFrontEndDependencies) {
    const { interfaces, clock, log } = dependencies;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#extra = dependencies.extra ?? NO_EXTRA_PLUGINS;
    const isOurselves = ({ host, port }: UpstreamAddress) => {
      if (host.kind !== 'address') return false;
      const machine = interfaces();
      const { addresses } = chooseAddresses(settings.listen, machine);
      const listen = { addresses, port: settings.listen.port };
      return isListeningAt(listen, machine, { address: host.address, port });
    };
    this.#servers = { fromResolvFile: [], moreRoutes: [], isOurselves };
    this.watching = this.#makeWatching();
    this.#upstreams = new UpstreamSources({
      plan: settings.upstreams,
      isOurselves,
      onChange: (servers, isReload) => this.#change(servers, isReload && settings.cache.clearsOnReload),
      clock,
      log,
    });
  }

  get plan(): ServerPlan {
    const { interfaces, udpReaders, drain = 0 } = this.#dependencies;
    const changing = { ...this.#servers, extra: this.#extra.uses };
    const plan = compileDnsmasq(this.#settings, changing, { interfaces: interfaces(), udpReaders });
    return { ...plan, drain };
  }

  async start(onChange: PlanListener): Promise<void> {
    this.#onChange = logRefusals(onChange, this.#dependencies.log);
    await this.#upstreams.start();
  }

  /** Applies the servers of the nanny's folder. */
  followNanny(nanny: NannyServers): Promise<void> {
    return this.#change({ nanny }, false);
  }

  async reload(): Promise<void> {
    if (this.#extra.reload()) await this.#onChange(this.plan, false);
    await this.#upstreams.reload();
  }

  stats(): FrontEndStats {
    return { config: undefined, watches: [] };
  }

  announce(): void {
    const { listen, cache } = this.#settings;
    const { version, log } = this.#dependencies;
    const size = listen.port === 0 ? 'DNS disabled' : `cachesize ${cache.size}`;
    log.info(`started, version portolan-${version} ${size}`);
  }

  async stop(): Promise<void> {
    this.#upstreams.stop();
  }

  #change(changed: Partial<DnsmasqInputs>, clearsCache: boolean): Promise<void> {
    this.#servers = { ...this.#servers, ...changed };
    return this.#onChange(this.plan, clearsCache);
  }

  #makeWatching(): Watching | undefined {
    const { findHostsFile } = this.#dependencies;
    const extent = this.#settings.log.queries;
    if (extent === 'off') return undefined;
    const queryLog = new DnsmasqQueryLog({ extent, findHostsFile });
    return { queryLog, connect: reportQueries(connectBySockets, queryLog) };
  }
}
