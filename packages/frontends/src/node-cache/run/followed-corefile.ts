/**
 * The Corefile of a node cache: rendered from its template and kube-dns's ConfigMap, written, and served.
 *
 * An invalid ConfigMap changes nothing; at start, only the template is then rendered. Both are still followed.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { type Environment, readVariable } from '@portolan/kernel/base/environment.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { replaceFile } from '@portolan/kernel/base/replace-file.ts';
import { ConfigFolder } from '@portolan/kubernetes/config-map/config-folder.ts';
import type { ConfigTexts } from '@portolan/kubernetes/config-map/config-texts.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { FolderFollower } from '@portolan/sources/folder-follower.ts';
import {
  EMPTY_NODE_CACHE_CONFIG,
  NODE_CACHE_KEYS,
  type NodeCacheConfig,
  readNodeCacheConfig,
} from '../settings/node-cache-config.ts';
import type { NodeCachePlan } from '../settings/node-cache-plan.ts';
import { renderCorefile } from '../settings/render-corefile.ts';
import { readServiceAddress, toAddressVariable } from '../settings/upstream-service.ts';

export interface FollowedCorefileOptions {
  readonly plan: NodeCachePlan;
  readonly environment: Environment;
  /** The default folder of the ConfigMap if the plan names none. Default: `/etc/kube-dns`. */
  readonly defaultConfigFolder?: string;
  /** Called after the file is rewritten. */
  readonly onChange: () => void;
  /** Called for each fault of the template, the ConfigMap or the output. */
  readonly onError: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The folder in which deployments mount the ConfigMap. */
const DEFAULT_CONFIG_FOLDER = '/etc/kube-dns';
/** Milliseconds between polls of the folders, if the system does not report changes. */
const PERIOD = 10_000;

export class FollowedCorefile {
  readonly #options: FollowedCorefileOptions;
  readonly #guard: ItemGuard;
  readonly #templates: FolderFollower;
  readonly #folder: ConfigFolder | undefined;
  #template: string | undefined;
  #config: NodeCacheConfig = EMPTY_NODE_CACHE_CONFIG;
  #written: string | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isStarted = false;
  /** The faults of the latest ConfigMap. */
  #problems: readonly string[] = [];

  constructor(options: FollowedCorefileOptions) {
    this.#options = options;
    const { plan, defaultConfigFolder = DEFAULT_CONFIG_FOLDER, clock, log } = options;
    this.#guard = new ItemGuard({ source: 'config-map', clock, log });
    this.#templates = new FolderFollower({
      folder: dirname(plan.template),
      accepts: (name) => name === basename(plan.template),
      period: PERIOD,
      mayBeMissing: true,
      clock,
      log,
      onChange: ([change]) => this.#takeTemplate(change?.kind === 'content' ? change.octets : undefined),
    });
    const directory =
      plan.configFolder ?? (existsSync(defaultConfigFolder) ? defaultConfigFolder : undefined);
    this.#folder =
      directory === undefined
        ? undefined
        : new ConfigFolder({
            directory,
            keys: NODE_CACHE_KEYS,
            period: PERIOD,
            onChange: (texts) => this.#takeConfig(texts),
            clock,
            log,
          });
  }

  /** Reads both folders, writes the Corefile, and starts to follow the folders. */
  async start(): Promise<void> {
    const { plan, environment, log } = this.#options;
    if (readServiceAddress(plan.upstreamService, environment) === undefined) {
      const variable = toAddressVariable(plan.upstreamService);
      log.warn(
        `Unable to lookup IP address of Upstream service ${plan.upstreamService}, env $${variable} \`${readVariable(environment, variable) ?? ''}\``,
      );
    }
    await this.#folder?.start();
    await this.#templates.start();
    this.#isStarted = true;
    this.#render();
    await this.#writing;
  }

  async stop(): Promise<void> {
    this.#templates.stop();
    this.#folder?.stop();
    await this.#writing;
  }

  /** The faults of the latest ConfigMap, which keep an earlier one in force; empty: it has none. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  #takeTemplate(octets: Buffer | undefined): void {
    const { plan, log, onError } = this.#options;
    if (octets === undefined) {
      log.error('Failed to read node-cache coreFile: no template', { file: plan.template });
      onError();
      return;
    }
    this.#template = octets.toString();
    this.#render();
  }

  #takeConfig(texts: ConfigTexts): void {
    const reading = this.#guard.take(
      () => this.#options.plan.configFolder ?? 'kube-dns',
      () => readNodeCacheConfig(texts),
    );
    if (reading?.kind !== 'good') {
      this.#problems = reading?.problems.map(describeProblem) ?? ['the ConfigMap cannot be read'];
      for (const problem of reading === undefined ? [] : this.#problems) {
        this.#guard.count('malformed');
        this.#options.log.error(`Invalid config: ${problem}`);
      }
      this.#options.onError();
      return;
    }
    this.#problems = [];
    this.#config = reading.value;
    this.#render();
  }

  #render(): void {
    if (!this.#isStarted || this.#template === undefined) return;
    const { plan, environment, log } = this.#options;
    const { text, upstreams, mayForceTcp } = renderCorefile(this.#template, {
      localAddresses: plan.localAddresses,
      clusterDns: readServiceAddress(plan.upstreamService, environment),
      port: String(plan.port),
      prometheusAddress: plan.prometheusAddress,
      ...this.#config,
    });
    if (text === this.#written) return;
    this.#written = text;
    if (mayForceTcp)
      log.warn('Did not find TCP upstream block to replace, assuming upstreams already use UDP.');
    const count = this.#config.stubDomains.size;
    this.#writing = this.#writing
      .then(() => this.#write(text))
      .then((isWritten) => {
        if (!isWritten) return;
        log.info(`Updated Corefile with ${count} custom stubdomains and upstream servers ${upstreams}`);
        this.#options.onChange();
      });
  }

  /** Replaces the file atomically, or writes in place if the folder does not allow new files. */
  async #write(text: string): Promise<boolean> {
    const { corefile } = this.#options.plan;
    try {
      await replaceFile(corefile, 0o644, (file) => file.writeFile(text));
      return true;
    } catch {
      return await this.#writeInPlace(text);
    }
  }

  async #writeInPlace(text: string): Promise<boolean> {
    const { plan, log, onError } = this.#options;
    try {
      await writeFile(plan.corefile, text);
      return true;
    } catch (error) {
      const reason = describeError(error);
      log.error(`Failed to write config file ${plan.corefile}: ${reason}`);
      this.#written = undefined;
      onError();
      return false;
    }
  }
}
