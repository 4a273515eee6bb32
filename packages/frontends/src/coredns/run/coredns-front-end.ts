/**
 * The front end of `coredns`: compiles a Corefile to a plan, serves its endpoints, and follows its changes.
 */
import type { CorefileProblem } from '@portolan/corefile/syntax/findings.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { FrontEnd, FrontEndStats, PlanListener } from '@portolan/server/front-end.ts';
import type { HttpHost } from '@portolan/server/observe/http-host.ts';
import type { QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import type { EndpointPlan, ServerPlan } from '@portolan/server/plan/server-plan.ts';
import type { ServerEvidence } from '@portolan/server/reasons/finding.ts';
import { findOptions } from '../../plugins/registry.ts';
import { compileCorefile } from '../settings/compile-corefile.ts';
import type { CorefileReading, GoodCorefile } from '../settings/read-corefile.ts';
import { EndpointError, Endpoints } from './endpoints.ts';
import { HealthRequests } from './health-requests.ts';

export interface CoreDnsFrontEndOptions {
  readonly reading: GoodCorefile;
  /** Whether to join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** For its endpoints. */
  readonly http: HttpHost;
  /** The query log unless the Corefile has one; undefined: none. */
  readonly queryLog: QueryLogPlan | undefined;
  /** Until when after the stop signal to answer on while queries arrive, if the Corefile says nothing: milliseconds. Default: 0. */
  readonly drain?: number;
  /** The deviations in which the server does as CoreDNS does. */
  readonly restored: RestoredDeviations;
  /** The digest of the current Corefile, as its reading has it. @throws Error with the reason if it cannot be read */
  readonly digest: () => string | undefined;
  /** Reads the current Corefile. @throws Error with the reason if it cannot be read */
  readonly read: () => CorefileReading;
  /** The metrics of the engine. */
  readonly metrics: () => MetricRegistry;
  /** All metrics in Prometheus text format. */
  readonly metricsText: () => string;
  /** What is wrong with the settings that the Corefile is made from; default: nothing. */
  readonly settingsProblems?: (() => readonly string[]) | undefined;
  /** Of a node's cache whose packet filter rules are to be set, and are not. */
  readonly missingRules?: (() => ServerEvidence['missingRules']) | undefined;
  /** The plugins that are not ready. @param wasReady whether all were before: only those that may lose readiness */
  readonly notReady: (wasReady: boolean) => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Why a Corefile was not applied. */
class ReloadError extends Error {
  override readonly name = 'ReloadError';
}

export class CoreDnsFrontEnd implements FrontEnd {
  readonly watching = undefined;
  readonly reloadsPlanAlone = true;
  readonly isSettled = true;
  readonly #options: CoreDnsFrontEndOptions;
  readonly #endpoints: Endpoints;
  #reading: GoodCorefile;
  #plan: ServerPlan;
  #onChange: PlanListener = async () => {};
  #timer: Timer | undefined;
  #healthRequests: HealthRequests | undefined;
  #isServing = false;
  /** The digest and error of the last attempt; undefined while the last Corefile read is in force. */
  #failed: { readonly digest: string | undefined; readonly message: string } | undefined;

  constructor(options: CoreDnsFrontEndOptions) {
    const { reading, takeover, http, metricsText, notReady, clock, log } = options;
    this.#options = options;
    this.#reading = reading;
    this.#plan = compileCorefile(reading.blocks, options);
    this.#endpoints = new Endpoints({
      takeover,
      http,
      metricsText,
      notReady,
      clock,
      log,
      isServing: () => this.#isServing,
      notes: { health: () => this.#describeRules(), ready: () => this.#describeTrouble() },
    });
  }

  get plan(): ServerPlan {
    return this.#plan;
  }

  async open(): Promise<void> {
    await this.#openEndpoints(this.#plan.endpoints);
    this.#announceDigest();
  }

  async start(onChange: PlanListener): Promise<void> {
    this.#onChange = onChange;
    const { endpoints } = this.#plan;
    if (endpoints.some(({ kind }) => kind === 'metrics')) this.#countFailures();
    this.#followHealth(endpoints);
    this.#lookAgain();
  }

  announce(): void {
    this.#isServing = true;
  }

  async leaving(): Promise<void> {
    this.#timer?.cancel();
    this.#healthRequests?.stop();
    const { lameduck } = this.#plan;
    if (lameduck > 0)
      this.#options.log.info(`plugin/health: Going into lameduck mode for ${formatGoDuration(lameduck)}`);
    await this.#endpoints.leaveReadiness();
  }

  /** Reads and applies the Corefile even if it is unchanged: SIGUSR1. */
  async reload(): Promise<void> {
    const { log, read } = this.#options;
    log.info('SIGUSR1: Reloading');
    let reading: CorefileReading;
    try {
      reading = read();
    } catch (error) {
      log.error(`SIGUSR1: loading updated Caddyfile: ${describeError(error)}`);
      this.#countMoreFailures();
      return;
    }
    const fault = await this.#follow(reading);
    if (fault === undefined) return;
    log.error(`SIGUSR1: starting with listener file descriptors: ${fault}`);
    this.#countMoreFailures();
  }

  stats(): FrontEndStats {
    const { settingsProblems = () => [], missingRules } = this.#options;
    const problems = [...(this.#failed === undefined ? [] : [this.#failed.message]), ...settingsProblems()];
    return {
      config: undefined,
      problems,
      watches: [],
      missingRules: missingRules?.(),
    };
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#healthRequests?.stop();
    await this.#endpoints.stop();
  }

  /** Checks the Corefile again after the interval of `reload`. */
  #lookAgain(): void {
    this.#timer?.cancel();
    const { clock } = this.#options;
    const [reload] = this.#reading.blocks.flatMap((block) => findOptions(block, 'reload') ?? []);
    if (reload === undefined) return;
    const wait = reload.interval + (Math.random() - 0.5) * reload.jitter;
    this.#timer = clock.after(wait, () => void this.#look().finally(() => this.#lookAgain()));
  }

  async #look(): Promise<void> {
    const { log, digest: readDigest, read } = this.#options;
    let reading: CorefileReading | undefined;
    try {
      // What plugins read may be large: they do so only for another Corefile.
      if (readDigest() !== this.#reading.digest) reading = read();
    } catch {
      // A missing file may be in the middle of a replacement.
      return;
    }
    if (reading === undefined || reading.digest === this.#reading.digest) {
      this.#failed = undefined;
      return;
    }
    const { digest } = reading;
    if (digest === undefined) {
      this.#noteUnparsable(reading.kind === 'bad' ? reading.problems : []);
      return;
    }
    const before = this.#failed;
    const isRetry = before?.digest === digest;
    if (isRetry && this.#options.restored.has('reload-tries-again')) return;
    const fault = await this.#follow(reading, isRetry);
    this.#showDigest(digest);
    if (fault === undefined || (isRetry && before?.message === fault)) return;
    log.error(
      `plugin/reload: Corefile changed but reload failed: starting with listener file descriptors: ${fault}`,
    );
    this.#countFailures().inc();
  }

  /** CoreDNS logs this at each check. */
  #noteUnparsable(problems: readonly CorefileProblem[]): void {
    const { restored, log } = this.#options;
    const message = problems.find(({ phase }) => phase === 'tokens')?.message ?? '';
    const isNew = this.#failed?.message !== message;
    if (isNew || restored.has('reload-failures'))
      log.warn(`plugin/reload: Corefile parse failed: ${message}`);
    if (isNew) this.#countMoreFailures();
    this.#failed = { digest: undefined, message };
  }

  /** Counts failures that CoreDNS does not count: after a signal, or of a file that does not parse. */
  #countMoreFailures(): void {
    if (!this.#options.restored.has('reload-failures')) this.#countFailures().inc();
  }

  /**
   * Applies another Corefile.
   *
   * @param isQuiet whether the same Corefile failed before, so that the failure is not logged again
   * @returns the reason of a failure; undefined on success
   */
  async #follow(reading: CorefileReading, isQuiet = false): Promise<string | undefined> {
    const { log } = this.#options;
    if (!isQuiet) log.info('Reloading');
    try {
      if (reading.kind === 'bad') throw new ReloadError(reading.problems[0]?.message);
      await this.#replace(reading);
      if (isQuiet) log.info('Reloading');
    } catch (error) {
      const message = describeError(error);
      if (!isQuiet || this.#failed?.message !== message) log.error(`Restart failed: ${message}`);
      this.#failed = { digest: reading.digest, message };
      return message;
    }
    this.#failed = undefined;
    this.#announceDigest();
    log.info('Reloading complete');
    this.#lookAgain();
    return undefined;
  }

  async #replace(reading: GoodCorefile): Promise<void> {
    const plan = compileCorefile(reading.blocks, this.#options);
    const { endpoints } = this.#plan;
    await this.#openEndpoints(plan.endpoints);
    try {
      await this.#onChange(plan, false);
    } catch (error) {
      await this.#endpoints.keepOnly(endpoints);
      throw error;
    }
    this.#plan = plan;
    this.#reading = reading;
    await this.#endpoints.keepOnly(plan.endpoints);
    this.#followHealth(plan.endpoints);
  }

  /** The text for readiness requests if the running configuration differs from the file. */
  #describeTrouble(): string {
    if (this.#options.restored.has('ready-reasons')) return '';
    const reload =
      this.#failed === undefined ? '' : `\nCorefile changed but reload failed: ${this.#failed.message}\n`;
    return `${reload}${this.#describeRules()}`;
  }

  /** Manifests of a node's cache ask the health check for readiness too, so both have it. */
  #describeRules(): string {
    const { restored, missingRules } = this.#options;
    const missing = restored.has('ready-reasons') ? undefined : missingRules?.();
    return missing === undefined ? '' : `\npacket filter rules not set: ${missing.reason}\n`;
  }

  #followHealth(endpoints: readonly EndpointPlan[]): void {
    const addresses = endpoints.flatMap(({ kind, address }) => (kind === 'health' ? [address] : []));
    if (addresses.length === 0 && this.#healthRequests === undefined) return;
    const { metrics, clock, log } = this.#options;
    this.#healthRequests ??= new HealthRequests({ metrics: metrics(), clock, log });
    this.#healthRequests.follow([...new Set(addresses)]);
  }

  /** At start, an address of `health` or `pprof` that cannot be bound is an error, as in CoreDNS; other failures are logged. */
  async #openEndpoints(plans: readonly EndpointPlan[]): Promise<void> {
    await this.#endpoints.add(plans.filter(({ kind }) => kind === 'health' || kind === 'profile'));
    for (const plan of plans) {
      try {
        await this.#endpoints.add([plan]);
      } catch (error) {
        if (!(error instanceof EndpointError)) throw error;
        this.#options.log.error(`${OPENING[plan.kind]}: ${error.message}`);
      }
    }
    this.#endpoints.show(plans);
  }

  #announceDigest(): void {
    const { blocks, digest } = this.#reading;
    if (blocks.some((block) => findOptions(block, 'reload') !== undefined))
      this.#options.log.info(`plugin/reload: Running configuration SHA512 = ${digest}`);
  }

  #countFailures() {
    const help = 'Counter of the number of failed reloads.';
    return this.#options.metrics().counter('coredns_reload_failed_total', help);
  }

  #showDigest(digest: string): void {
    const help = 'A metric with the hash of the running configuration.';
    const gauge = this.#options.metrics().gauge('coredns_reload_version_info', help, ['hash', 'value']);
    gauge.reset();
    gauge.set({ hash: 'sha512', value: digest }, 1);
  }
}

/** How a line about an address that cannot be opened begins, in the words of CoreDNS. */
const OPENING = {
  health: 'plugin/health',
  ready: 'plugin/ready',
  profile: 'plugin/pprof',
  metrics: 'Failed to start metrics handler',
} as const;
