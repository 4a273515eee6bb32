/**
 * Follows the settings that change at run time: kube-dns's ConfigMap, in a folder or on the API server.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { ConfigFolder } from '@portolan/kubernetes/config-map/config-folder.ts';
import type { ConfigTexts } from '@portolan/kubernetes/config-map/config-texts.ts';
import { ConfigMapSink } from '@portolan/kubernetes/objects/config-map-sink.ts';
import type { Following, ObjectSource } from '@portolan/server/object-source.ts';
import type { ConfigStats } from '@portolan/server/observe/stats.ts';
import { CONFIG_KEYS, type KubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import type { DynamicPlan } from '../settings/serve-options.ts';
import { LastGoodConfig } from './last-good-config.ts';
import { StoredConfig } from './stored-config.ts';

export interface DynamicConfigOptions {
  readonly plan: DynamicPlan;
  readonly onChange: (config: KubeDnsConfig) => Promise<void>;
  /** The file that keeps the last good settings across restarts; undefined: none. */
  readonly file: string | undefined;
  /** The zone, to match saved settings. */
  readonly domain: NameKey;
  readonly clock: Clock;
  readonly log: Log;
}

export class DynamicConfig {
  readonly #options: DynamicConfigOptions;
  readonly #config: LastGoodConfig | undefined;
  readonly #kept: StoredConfig | undefined;
  #folder: ConfigFolder | undefined;
  #following: Following | undefined;
  #isSettled = false;

  constructor(options: DynamicConfigOptions) {
    const { plan, onChange, file, domain, clock, log } = options;
    this.#options = options;
    const source = describeSource(plan);
    if (source === undefined) return;
    if (file !== undefined) this.#kept = new StoredConfig({ file, owner: { domain, source }, clock, log });
    const kept = this.#kept;
    const keep = kept && ((texts: ConfigTexts) => kept.keep(texts));
    this.#config = new LastGoodConfig({ source, onChange, keep, clock, log });
  }

  /** Resolves when a folder is read; does not wait for an API server. */
  async start(source: ObjectSource | undefined): Promise<void> {
    const { plan, clock, log } = this.#options;
    const kept = await this.#kept?.read();
    if (kept !== undefined) {
      this.#config?.restore(kept);
      this.#isSettled = true;
    }
    const take = (texts: ConfigTexts) => this.#config?.take(texts);
    if (plan.kind === 'folder') {
      const { directory, period } = plan;
      this.#folder = new ConfigFolder({ directory, keys: CONFIG_KEYS, period, onChange: take, clock, log });
      await this.#folder.start();
    } else if (plan.kind === 'config-map') {
      const { namespace, name } = plan;
      const sink = new ConfigMapSink(name, (data) => {
        if (data === undefined) log.info('ConfigMap not found: using defaults', { namespace, name });
        take(toConfigTexts(data ?? new Map()));
      });
      this.#following = source?.followConfigMap(namespace, name, sink);
      if (this.#following !== undefined) return;
      this.#isSettled = true;
      log.warn('no ConfigMap to follow: there is no API server', { namespace, name });
    }
  }

  /** The watch of the ConfigMap, if there is one. */
  get following(): Following | undefined {
    return this.#following;
  }

  /**
   * Whether settings were read, now or in the last run, or cannot be read at all. A busy or unreachable API server may still deliver
   * them. Stays true.
   */
  get isSettled(): boolean {
    if (this.#options.plan.kind !== 'config-map') return true;
    const following = this.#following;
    this.#isSettled ||= following !== undefined && (following.status().lists > 0 || following.isRefused());
    return this.#isSettled;
  }

  stats(): ConfigStats | undefined {
    return this.#config?.stats();
  }

  async stop(): Promise<void> {
    this.#folder?.stop();
    await this.#following?.stop();
    await this.#kept?.stop();
  }
}

function describeSource(plan: DynamicPlan): string | undefined {
  switch (plan.kind) {
    case 'none':
      return undefined;
    case 'folder':
      return plan.directory;
    case 'config-map':
      return `ConfigMap ${plan.namespace}/${plan.name}`;
  }
}

function toConfigTexts(data: ReadonlyMap<string, string>): ConfigTexts {
  return new Map(Array.from(data, ([key, text]) => [key, { kind: 'text', text }] as const));
}
