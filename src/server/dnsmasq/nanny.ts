/**
 * What dnsmasq-nanny did beside dnsmasq: follows a folder that holds kube-dns's ConfigMap, and gives its stub domains and upstream
 * servers to the running server. Nothing is restarted, so no cached answer and no question is lost.
 */
import { basename } from 'node:path';
import { type KubeDnsServers, readKubeDnsServers, SERVER_KEYS } from '../../config/kube-dns/config-map.ts';
import type { NannyPlan } from '../../config/kube-dns/nanny-flags.ts';
import { describeProblem } from '../../config/problem.ts';
import { defaultRule, type ForwardRule } from '../../forward/plan.ts';
import type { UpstreamAddress } from '../../forward/upstream-address.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { type FileChange, FolderFollower } from '../../sources/folder-follower.ts';
import { isWithin, parseName, toKey } from '../../wire/name.ts';
import type { NannyServers } from './forward-plan.ts';

export interface NannyOptions {
  readonly plan: NannyPlan;
  readonly onChange: (servers: NannyServers) => void;
  /** Called at every `-logInterval`. */
  readonly report: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Names of stub servers in here are those of Services: kube-dns knows them. */
const CLUSTER = toKey(parseName('cluster.local.'));

export class Nanny {
  readonly #options: NannyOptions;
  readonly #follower: FolderFollower;
  readonly #values = new Map<string, string>();
  #timer: Timer | undefined;

  constructor(options: NannyOptions) {
    const { plan, clock, log } = options;
    this.#options = options;
    this.#follower = new FolderFollower({
      folder: plan.configDir,
      accepts: (name) => SERVER_KEYS.includes(name),
      period: Math.max(plan.syncInterval, LEAST_PERIOD),
      mayBeMissing: true,
      ...{ clock, log },
      onChange: (changes) => this.#take(changes),
    });
  }

  /** Reads the folder, and follows it from then on. */
  async start(): Promise<void> {
    await this.#follower.start();
    this.#reportLater();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#follower.stop();
  }

  #reportLater(): void {
    const { plan, clock, report } = this.#options;
    if (plan.logInterval === 0) return;
    this.#timer = clock.after(plan.logInterval, () => {
      report();
      this.#reportLater();
    });
  }

  #take(changes: readonly FileChange[]): void {
    const { plan, log, onChange } = this.#options;
    for (const change of changes) {
      const key = basename(change.file);
      if (change.kind === 'content') this.#values.set(key, change.octets.toString('utf8'));
      else if (change.kind === 'gone') this.#values.delete(key);
      else log.error('configuration cannot be read', { file: change.file, reason: change.reason });
    }
    const read = readKubeDnsServers(this.#values);
    if (read.kind === 'good') {
      onChange(toServers(read.value, plan.kubednsServer));
      announce(read.value, log);
    } else
      for (const problem of read.problems)
        log.error(`configuration not taken in, the last good one stays: ${describeProblem(problem)}`);
  }
}

/** A folder that is looked at without a pause serves nobody. */
const LEAST_PERIOD = 100;

function toServers({ stubDomains, upstreams }: KubeDnsServers, kubednsServer: UpstreamAddress): NannyServers {
  const rules = stubDomains.map(({ domain, servers }) => ruleFor(domain, servers));
  const named = stubDomains.flatMap(({ servers }) => servers.flatMap(clusterNames));
  rules.push(...[...new Set(named)].map((name) => ruleFor(name, [kubednsServer])));
  return {
    rules: upstreams.length === 0 ? rules : [...rules, defaultRule(upstreams)],
    replacesResolvFiles: upstreams.length > 0,
  };
}

function clusterNames({ host }: UpstreamAddress) {
  if (host.kind === 'address') return [];
  const name = toKey(host.name);
  return isWithin(name, CLUSTER) ? [name] : [];
}

function ruleFor(name: ReturnType<typeof toKey>, servers: readonly UpstreamAddress[]): ForwardRule {
  return { ...defaultRule(servers), names: [{ kind: 'domain', name }] };
}

function announce({ stubDomains, upstreams }: KubeDnsServers, log: Log): void {
  log.info('servers of the ConfigMap taken in', {
    stubDomains: stubDomains.map(({ domain }) => domain).join(' ') || undefined,
    upstreamNameservers: upstreams.length,
  });
}
