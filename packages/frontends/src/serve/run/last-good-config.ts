/**
 * The settings of kube-dns's ConfigMap in force: the latest valid ones. An invalid change is reported and has no effect.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { ConfigTexts } from '@portolan/kubernetes/config-map/config-texts.ts';
import type { ConfigStats } from '@portolan/server/observe/stats.ts';
import {
  CONFIG_KEYS,
  type ConfigKey,
  type KubeDnsConfig,
  readKubeDnsConfig,
} from '@portolan/server/settings/config-map/config-map.ts';
import { type Checked, describeProblem, type Problem } from '@portolan/server/settings/values/problem.ts';

export interface LastGoodConfigOptions {
  /** The source of the settings, for messages. */
  readonly source: string;
  /** Resolves when the settings are in force, or refused. Never rejects. */
  readonly onChange: (config: KubeDnsConfig) => Promise<void>;
  /** Called with the accepted texts. */
  readonly keep?: ((texts: ConfigTexts) => void) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The most problems of one change, and the most domains, to name in the log. */
const MAX_TOLD = 10;

export class LastGoodConfig {
  readonly #options: LastGoodConfigOptions;
  readonly #guard: ItemGuard;
  readonly #errors = new Map<ConfigKey, number>(CONFIG_KEYS.map((key) => [key, 0]));
  #read: string | undefined;
  /** What is wrong with the latest settings. */
  #problems: readonly string[] = [];
  #changes = 0;
  #changedAt: number | undefined;

  constructor(options: LastGoodConfigOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#guard = new ItemGuard({ source: 'config-map', clock, log });
  }

  /** Applies the current ConfigMap. Unchanged texts are ignored. */
  take(texts: ConfigTexts): void {
    const fingerprint = JSON.stringify(CONFIG_KEYS.map((key) => texts.get(key) ?? null));
    if (fingerprint === this.#read) return;
    this.#read = fingerprint;
    const checked = this.#check(texts);
    if (checked === undefined) this.#problems = ['the ConfigMap cannot be read'];
    else if (checked.kind === 'bad') this.#reject(checked.problems);
    else {
      this.#accept(checked.value, this.#options.source);
      this.#options.keep?.(texts);
    }
  }

  /** Applies settings of the last run until newer ones are read. */
  restore(texts: ConfigTexts): void {
    const checked = this.#check(texts);
    if (checked?.kind === 'good') this.#accept(checked.value, 'the last run');
  }

  stats(): ConfigStats {
    return {
      errors: this.#errors,
      isLastGood: this.#problems.length > 0,
      problems: this.#problems,
      changes: this.#changes,
      changedAt: this.#changedAt,
    };
  }

  #check(texts: ConfigTexts): Checked<KubeDnsConfig> | undefined {
    return this.#guard.take(
      () => this.#options.source,
      () => readKubeDnsConfig(texts),
    );
  }

  #accept(config: KubeDnsConfig, from: string): void {
    const { clock, log, onChange } = this.#options;
    this.#problems = [];
    this.#changes += 1;
    this.#changedAt = clock.now();
    const { stubDomains, upstreams, federations } = config;
    // The line follows the change, since its readers may send a query at once.
    void onChange(config).then(() =>
      log.info('ConfigMap applied', {
        stubDomains: listFew(stubDomains.map(({ domain }) => domain)),
        upstreamNameservers: upstreams.length,
        federations: listFew(federations.map(({ name }) => name)),
        from,
      }),
    );
  }

  #reject(problems: readonly Problem[]): void {
    const { log, source } = this.#options;
    this.#problems = problems.slice(0, MAX_TOLD).map(describeProblem);
    for (const key of CONFIG_KEYS)
      if (problems.some(({ where }) => where === key)) {
        this.#errors.set(key, this.#countErrors(key) + 1);
        this.#guard.count('malformed');
      }
    for (const problem of problems.slice(0, MAX_TOLD))
      log.error(`configuration rejected, keeping the last good one: ${describeProblem(problem)}`, {
        from: source,
        key: problem.where,
      });
    if (problems.length > MAX_TOLD)
      log.error('more problems with the same configuration', { problems: problems.length - MAX_TOLD });
  }

  #countErrors(key: ConfigKey): number {
    return this.#errors.get(key) ?? 0;
  }
}

/** Joins names; undefined if there are none. Of many names, only the first and the number are shown. */
function listFew(names: readonly string[]): string | undefined {
  const shown = names.slice(0, MAX_TOLD).join(' ');
  return names.length > MAX_TOLD ? `${shown} and ${names.length - MAX_TOLD} more` : shown || undefined;
}
