/**
 * The front end of `serve` and `kube-dns`: flags, the resolv file and the ConfigMap of kube-dns.
 */

import { networkInterfaces } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { findPluginOptions } from '@portolan/kernel/contract/plugin-use.ts';
import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { isListeningAt, listOwnAddresses } from '@portolan/kernel/listen/local-addresses.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { isOfKubernetes } from '@portolan/kubernetes/names/labels.ts';
import { forward as forwardPlugin } from '@portolan/plugins/forward/plugin.ts';
import {
  type FrontEnd,
  type FrontEndStats,
  logRefusals,
  type PlanListener,
  type ServingFacts,
} from '@portolan/server/front-end.ts';
import type { ObjectSource } from '@portolan/server/object-source.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import type { KubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import { type ResolvFileEvents, ResolvFiles } from '@portolan/sources/resolv/resolv-files.ts';
import { type ExtraPlugins, NO_EXTRA_PLUGINS } from '../../blocks-extra/extra-plugins.ts';
import { compileServe } from '../settings/compile-serve.ts';
import { NO_SERVERS, type ServeInputs } from '../settings/resolver-settings.ts';
import type { ServePlan } from '../settings/serve-options.ts';
import { DynamicConfig } from './dynamic-config.ts';

export interface ServeFrontEndDependencies {
  readonly version: string;
  /** Plugins of `--blocks-extra`. Default: none. */
  readonly extra?: ExtraPlugins;
  readonly clock: Clock;
  readonly log: Log;
}

export class ServeFrontEnd implements FrontEnd {
  readonly watching = undefined;
  readonly reloadsPlanAlone = false;
  readonly #settings: ServePlan;
  readonly #dependencies: ServeFrontEndDependencies;
  readonly #resolvFiles: ResolvFiles;
  readonly #dynamic: DynamicConfig;
  readonly #extra: ExtraPlugins;
  #changing: ServeInputs = NO_SERVERS;
  #onChange: PlanListener = async () => {};

  constructor(settings: ServePlan, dependencies: ServeFrontEndDependencies) {
    const { clock, log } = dependencies;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#extra = dependencies.extra ?? NO_EXTRA_PLUGINS;
    this.#resolvFiles = this.#makeResolvFiles();
    const { dynamic, snapshotFile, cluster } = settings;
    this.#dynamic = new DynamicConfig({
      plan: dynamic,
      onChange: (config) => this.#followConfig(config),
      file: snapshotFile === undefined ? undefined : `${snapshotFile}.config`,
      domain: cluster.domain,
      clock,
      log,
    });
  }

  get plan(): ServerPlan {
    const settings = this.#settings;
    const interfaces = networkInterfaces();
    const machine = { interfaces, ownAddresses: listOwnAddresses(settings.listen.addresses, interfaces) };
    return compileServe(settings, { ...this.#changing, extra: this.#extra.uses }, machine);
  }

  get isSettled(): boolean {
    return this.#dynamic.isSettled;
  }

  /** Does not wait for a ConfigMap on the API server. */
  async start(onChange: PlanListener, source: ObjectSource | undefined): Promise<void> {
    const { log } = this.#dependencies;
    this.#onChange = logRefusals(onChange, this.#dependencies.log);
    for (const note of this.#settings.resolver.notes) log.warn('option of dnsmasq', { note });
    await this.#resolvFiles.start();
    this.#takeServers();
    if (!hasDefaultServers(this.plan.engine)) this.#logRefusal();
    await this.#dynamic.start(source);
  }

  /** Rereads the resolv file and the extra plugins; changes of the ConfigMap are followed anyway. */
  async reload(): Promise<void> {
    if (this.#extra.reload()) await this.#onChange(this.plan, false);
    await this.#resolvFiles.reload();
    this.#takeServers();
  }

  stats(): FrontEndStats {
    const following = this.#dynamic.following;
    return {
      config: this.#dynamic.stats(),
      watches: following === undefined ? [] : [following.status()],
    };
  }

  announce({ source, manifests, addresses, udpReaders, healthPort, metricsPort }: ServingFacts): void {
    const { cluster, health, skyDnsMetrics } = this.#settings;
    const { version, log } = this.#dependencies;
    if (manifests !== undefined && manifests.files === 0 && manifests.badFiles > 0) {
      const remedy = 'correct the manifests, which are read again when they change';
      const fields = { zone: cluster.domain, from: source, bad: manifests.badFiles, addresses, remedy };
      log.error('no manifest can be used, names of the zone are answered SERVFAIL', fields);
      return;
    }
    log.info('serving', {
      zone: cluster.domain,
      from: source,
      addresses,
      readers: udpReaders,
      dialect: cluster.dialect,
      pods: cluster.pods,
      health: httpAddress(health.address, healthPort),
      metrics: httpAddress(skyDnsMetrics?.address, metricsPort),
      version,
    });
  }

  async stop(): Promise<void> {
    this.#resolvFiles.stop();
    await this.#dynamic.stop();
  }

  #makeResolvFiles(): ResolvFiles {
    const { upstreams } = this.#settings.resolver;
    const { clock, log } = this.#dependencies;
    const paths = upstreams.kind === 'resolv-file' ? [upstreams.path] : [];
    return new ResolvFiles({ paths, follows: true, events: this.#resolvEvents(), clock, log });
  }

  #resolvEvents(): ResolvFileEvents {
    const { log } = this.#dependencies;
    return {
      missing() {},
      reading() {},
      problems(file, problems) {
        for (const { line, message } of problems)
          log.warn('line of resolv file left out', { file, line, message });
      },
      empty: (file) => log.warn('resolv file has no nameserver: keeping the previous ones', { file }),
      changed: () => this.#takeServers(),
    };
  }

  /** Applies the nameservers of the resolv file, except those that are this server. */
  #takeServers(): void {
    const { listen } = this.#settings;
    const { log } = this.#dependencies;
    const { servers } = this.#resolvFiles;
    const others = servers.filter(
      ({ host, port }) =>
        host.kind !== 'address' ||
        !isListeningAt(listen, networkInterfaces(), { address: host.address, port }),
    );
    if (others.length < servers.length) log.warn('resolv file names this server, which cannot ask itself');
    if (others.length === 0 || isDeepStrictEqual(others, this.#changing.fromFile)) return;
    void this.#change({ fromFile: others }).then(() =>
      log.info('upstream servers', { servers: others.map(formatUpstream).join(', ') }),
    );
  }

  #followConfig(config: KubeDnsConfig): Promise<void> {
    const { domain } = this.#settings.cluster;
    const isOwn = (name: NameKey) => name === domain || isOfKubernetes(name, domain);
    const own = config.stubDomains.filter((stub) => isOwn(stub.domain)).map((stub) => stub.domain);
    if (own.length > 0) {
      const reason = "their names are the cluster's own";
      const domains = own.slice(0, 10).join(' ');
      this.#dependencies.log.warn('stub domains have no effect', { domains, reason });
    }
    return this.#change({ config });
  }

  #change(changed: Partial<ServeInputs>): Promise<void> {
    this.#changing = { ...this.#changing, ...changed };
    return this.#onChange(this.plan, false);
  }

  #logRefusal(): void {
    const { upstreams } = this.#settings.resolver;
    const { log } = this.#dependencies;
    const message = 'names outside the cluster are refused';
    if (upstreams.kind === 'none') log.info(message, { reason: 'there are no upstream servers' });
    else if (upstreams.kind === 'resolv-file')
      log.warn(message, {
        reason: `no server in ${upstreams.path}`,
        remedy: 'Name servers there, which is followed, or with --upstream.',
      });
  }
}

/** Whether there are default servers, for names without a rule. */
function hasDefaultServers({ blocks }: EnginePlan): boolean {
  const { routes = [] } = findPluginOptions(blocks[0]?.plugins, forwardPlugin) ?? {};
  const rules = routes.flatMap(({ plan }) => plan.rules);
  return rules.some(({ names, target }) => {
    const isForAll = names.some((match) => match.kind === 'domain' && match.name === ROOT);
    return isForAll && target.kind === 'servers' && target.servers.length > 0;
  });
}

/** The URL of the port for clients on this machine; undefined while it is closed. */
function httpAddress(address: string | undefined, port: number | undefined): string | undefined {
  if (port === undefined) return undefined;
  return `http://${formatSocketAddress({ address: address ?? '127.0.0.1', port })}`;
}
