/**
 * The part of dnsmasq-nanny beside dnsmasq: follows the folder of kube-dns's ConfigMap and applies its stub domains and upstream
 * servers to the running server. No restart means that no cached answer and no query is lost.
 */
import { isWithin, parseKey, toKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { defaultRule } from '@portolan/kernel/forward/forward-plan.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { ConfigFolder } from '@portolan/kubernetes/config-map/config-folder.ts';
import { CONFIG_KEYS, type KubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import { domainRule, stubDomainRules } from '@portolan/server/settings/config-map/stub-domain-rules.ts';
import type { NannyPlan } from '../../kube-dns/settings/nanny-flags.ts';
import { LastGoodConfig } from '../../serve/run/last-good-config.ts';
import type { NannyServers } from '../settings/forward-plan.ts';

export interface NannyOptions {
  readonly plan: NannyPlan;
  readonly onChange: (servers: NannyServers) => Promise<void>;
  /** Called once per `-logInterval`. */
  readonly report: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Stub servers with names in this domain are Services, which kube-dns resolves. */
const CLUSTER = parseKey('cluster.local.');

export class Nanny {
  readonly #options: NannyOptions;
  readonly #folder: ConfigFolder;
  #timer: Timer | undefined;

  constructor(options: NannyOptions) {
    const { plan, onChange, clock, log } = options;
    this.#options = options;
    const config = new LastGoodConfig({
      source: plan.configDir,
      onChange: (now) => onChange(toServers(now, plan.kubednsServer)),
      clock,
      log,
    });
    this.#folder = new ConfigFolder({
      directory: plan.configDir,
      keys: CONFIG_KEYS,
      period: plan.syncInterval,
      onChange: (texts) => config.take(texts),
      clock,
      log,
    });
  }

  /** Reads the folder and starts to follow it. */
  async start(): Promise<void> {
    await this.#folder.start();
    this.#reportLater();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#folder.stop();
  }

  #reportLater(): void {
    const { plan, clock, report } = this.#options;
    if (plan.logInterval === 0) return;
    this.#timer = clock.after(plan.logInterval, () => {
      report();
      this.#reportLater();
    });
  }
}

function toServers(config: KubeDnsConfig, kubednsServer: UpstreamAddress): NannyServers {
  const { stubDomains, upstreams } = config;
  const named = new Set(stubDomains.flatMap(({ servers }) => servers.flatMap(clusterNames)));
  const rules = [...stubDomainRules(config), ...[...named].map((name) => domainRule(name, [kubednsServer]))];
  return {
    rules: upstreams.length === 0 ? rules : [...rules, defaultRule(upstreams)],
    replacesResolvFiles: upstreams.length > 0,
  };
}

function clusterNames({ host }: UpstreamAddress): readonly NameKey[] {
  if (host.kind === 'address') return [];
  const name = toKey(host.name);
  return isWithin(name, CLUSTER) ? [name] : [];
}
