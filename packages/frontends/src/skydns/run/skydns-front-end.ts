/**
 * The front end of `skydns`: compiles flags, the key `config`, stub zones and resolv.conf to a plan, and follows them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EtcdSource } from '@portolan/etcd/source/etcd-source.ts';
import { pathOfName } from '@portolan/etcd/source/names/services.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import {
  type FrontEnd,
  type FrontEndStats,
  logRefusals,
  type PlanListener,
  type ServingFacts,
} from '@portolan/server/front-end.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { ResolvFiles } from '@portolan/sources/resolv/resolv-files.ts';
import { type ExtraPlugins, NO_EXTRA_PLUGINS } from '../../blocks-extra/extra-plugins.ts';
import { compileSkyDns, type SkyDnsInputs } from '../settings/compile-skydns.ts';
import { applyConfig, type SkyDnsSettings } from '../settings/skydns-settings.ts';
import { readStubZones, toStubParent } from './stub-zones.ts';

export interface SkyDnsFrontEndDependencies {
  readonly udpReaders: number;
  /** Until when after the stop signal to answer on while queries arrive: milliseconds. Default: 0. */
  readonly drain?: number;
  /** Plugins of `--blocks-extra`. Default: none. */
  readonly extra?: ExtraPlugins;
  readonly clock: Clock;
  readonly log: Log;
}

const RESOLV_CONF = '/etc/resolv.conf';
const CONFIG_KEY: readonly string[] = ['config'];
/** Settings that are fixed at start. */
const FIXED = ['domain', 'listen', 'hostmaster', 'ttl', 'minTtl', 'priority', 'cacheEntries'] as const;

export class SkyDnsFrontEnd implements FrontEnd {
  readonly watching = undefined;
  readonly reloadsPlanAlone = false;
  readonly isSettled = true;
  /** The settings of the flags only. */
  readonly #flags: SkyDnsSettings;
  readonly #dependencies: SkyDnsFrontEndDependencies;
  readonly #resolvFiles: ResolvFiles;
  readonly #guard: ItemGuard;
  readonly #startedAt: number;
  readonly #extra: ExtraPlugins;
  #settings: SkyDnsSettings;
  #inputs: SkyDnsInputs = { systemServers: [], stubZones: [] };
  /** Whether keys have changed the plan before `start`: the server reads etcd before it starts its front end. */
  #hasChanged = false;
  #onChange: PlanListener = async () => {
    this.#hasChanged = true;
  };

  /** @param settings the flags with the key `config` applied as it was at start */
  constructor(flags: SkyDnsSettings, settings: SkyDnsSettings, dependencies: SkyDnsFrontEndDependencies) {
    const { clock, log } = dependencies;
    this.#flags = flags;
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#extra = dependencies.extra ?? NO_EXTRA_PLUGINS;
    this.#startedAt = Math.floor(clock.now() / 1000);
    this.#guard = new ItemGuard({ source: 'etcd', clock, log });
    this.#resolvFiles = new ResolvFiles({
      paths: [RESOLV_CONF],
      follows: true,
      events: {
        missing: (path) => log.warn('resolv.conf not read', { path }),
        reading() {},
        problems: (path, problems) => log.warn('resolv.conf has bad lines', { path, count: problems.length }),
        empty: (path) => log.warn('resolv.conf names no server', { path }),
        changed: (systemServers) => this.#change({ systemServers }),
      },
      clock,
      log,
    });
  }

  get plan(): ServerPlan {
    const { udpReaders, drain = 0 } = this.#dependencies;
    const inputs = { ...this.#inputs, extra: this.#extra.uses };
    return { ...compileSkyDns(this.#settings, inputs, { udpReaders, now: this.#startedAt }), drain };
  }

  /** Follows the keys that are not name records. Call it before `start`. */
  follow(source: EtcdSource): void {
    source.onChange(CONFIG_KEY, () => this.#readConfig(source));
    if (!this.#settings.followsStubZones) return;
    const { domain } = this.#settings;
    source.onChange(pathOfName(toStubParent(domain)), () => {
      this.#change({ stubZones: readStubZones(source.names, domain, this.#guard) });
    });
  }

  async start(onChange: PlanListener): Promise<void> {
    this.#onChange = logRefusals(onChange, this.#dependencies.log);
    if (this.#hasChanged) await onChange(this.plan, false);
    if (this.#flags.nameservers !== undefined) return;
    await this.#resolvFiles.start();
    this.#change({ systemServers: this.#resolvFiles.servers });
  }

  async reload(): Promise<void> {
    if (this.#extra.reload()) await this.#onChange(this.plan, false);
    if (this.#flags.nameservers === undefined) await this.#resolvFiles.reload();
  }

  stats(): FrontEndStats {
    return { config: undefined, watches: [] };
  }

  announce({ addresses }: ServingFacts): void {
    const { domain } = this.#settings;
    this.#dependencies.log.info('ready for queries', { domain, addresses });
  }

  async stop(): Promise<void> {
    this.#resolvFiles.stop();
  }

  #change(inputs: Partial<SkyDnsInputs>): void {
    const changed = { ...this.#inputs, ...inputs };
    if (isDeepStrictEqual(changed, this.#inputs)) return;
    this.#inputs = changed;
    void this.#onChange(this.plan, false);
  }

  #readConfig(source: EtcdSource): void {
    const { log } = this.#dependencies;
    const read = new ValueReader();
    const json = source.value(CONFIG_KEY);
    const wanted = json === undefined ? this.#flags : applyConfig(this.#flags, json, read);
    if (read.problems.length > 0) {
      log.error('config in etcd not followed', { reason: read.problems.map(describeProblem).join('; ') });
      return;
    }
    const kept = FIXED.filter((name) => !isDeepStrictEqual(wanted[name], this.#settings[name]));
    if (kept.length > 0) log.warn('config in etcd needs a restart', { fields: kept.join(',') });
    const fixed = Object.fromEntries(FIXED.map((name) => [name, this.#settings[name]]));
    const settings: SkyDnsSettings = { ...wanted, ...fixed };
    if (isDeepStrictEqual(settings, this.#settings)) return;
    this.#settings = settings;
    log.info('config in etcd followed');
    void this.#onChange(this.plan, false);
  }
}
