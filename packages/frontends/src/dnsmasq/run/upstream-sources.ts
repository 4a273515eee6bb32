/**
 * Upstream servers from files: the newest resolv file, and a servers file. As in dnsmasq, resolv files are followed unless `--no-poll`
 * is set, and the servers file is reread on SIGHUP.
 */
import { readFile } from 'node:fs/promises';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { findErrorCode } from '@portolan/kernel/base/system-errors.ts';
import { formatUpstream, type UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { toDnsmasqServer } from '@portolan/plugins/chaos/server-statistics.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { type ResolvFileEvents, ResolvFiles } from '@portolan/sources/resolv/resolv-files.ts';
import type { DnsmasqRoute, UpstreamsPlan } from '../settings/dnsmasq-plan.ts';
import type { DnsmasqInputs } from '../settings/forward-plan.ts';
import { readServersFile } from '../settings/servers-file.ts';

export interface UpstreamSourcesOptions {
  readonly plan: UpstreamsPlan;
  /** Whether the address belongs to this server. */
  readonly isOurselves: (server: UpstreamAddress) => boolean;
  /**
   * Resolves when questions are answered by these servers, also if they were refused. Never rejects.
   *
   * @param isReload whether a resolv file has changed since the start
   */
  readonly onChange: (servers: ServersOfFiles, isReload: boolean) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export type ServersOfFiles = Pick<DnsmasqInputs, 'fromResolvFile' | 'moreRoutes'>;

export class UpstreamSources {
  readonly #options: UpstreamSourcesOptions;
  readonly #guard: ItemGuard;
  readonly #resolvFiles: ResolvFiles;
  #moreRoutes: readonly DnsmasqRoute[] = [];

  constructor(options: UpstreamSourcesOptions) {
    this.#options = options;
    const { plan, clock, log } = options;
    this.#guard = new ItemGuard({ source: 'servers-file', clock, log });
    this.#resolvFiles = new ResolvFiles({
      paths: plan.resolvFiles,
      follows: plan.followsResolvFiles,
      events: this.#resolvEvents(),
      clock,
      log,
    });
  }

  async start(): Promise<void> {
    await this.#readServers();
    await this.#resolvFiles.start();
    await this.#pass(false);
  }

  /** Rereads all files. */
  async reload(): Promise<void> {
    await this.#readServers();
    await this.#resolvFiles.reload();
    await this.#pass(false);
  }

  stop(): void {
    this.#resolvFiles.stop();
  }

  /** Logs events of resolv files with dnsmasq's messages. */
  #resolvEvents(): ResolvFileEvents {
    const { log } = this.#options;
    return {
      missing: (path, error) =>
        log.error(`failed to access ${path}: ${findErrorCode(error) ?? String(error)}`),
      reading: (path) => log.info(`reading ${path}`),
      problems: (path, problems) => {
        for (const { line, message } of problems) log.warn(`${path}:${line}: ${message}`);
      },
      empty: (path) => log.warn(`no servers found in ${path}, will retry`),
      changed: () => void this.#pass(true),
    };
  }

  async #readServers(): Promise<void> {
    const { plan, log } = this.#options;
    if (plan.serversFile === undefined) return;
    try {
      const { routes, problems, notes } = readServersFile(await readFile(plan.serversFile), plan.serversFile);
      for (const problem of problems) log.error(describeProblem(problem));
      this.#guard.count('malformed', problems.length);
      for (const { where, text } of notes) log.warn(`${where}: ${text}`);
      this.#moreRoutes = routes;
    } catch (error) {
      this.#guard.count('unreadable');
      log.error(`cannot read ${plan.serversFile}: ${findErrorCode(error) ?? String(error)}`);
    }
  }

  /** Passes the servers on. The log names them once they are in use: its readers ask as soon as they see the line. */
  async #pass(isReload: boolean): Promise<void> {
    const { plan, onChange, log } = this.#options;
    const fromResolvFile = this.#resolvFiles.servers;
    const moreRoutes = this.#moreRoutes;
    await onChange({ fromResolvFile, moreRoutes }, isReload);
    for (const server of fromResolvFile) this.#announceServer(server, '');
    this.#announceRoutes(plan.routes);
    this.#announceRoutes(moreRoutes);
    const hasServers = hasServer(plan.routes) || hasServer(moreRoutes);
    if (fromResolvFile.length === 0 && !hasServers) log.warn('warning: no upstream servers configured');
  }

  /** Logs routes with dnsmasq's messages. */
  #announceRoutes(routes: readonly DnsmasqRoute[]): void {
    const { log } = this.#options;
    for (const { scope, action } of routes) {
      if (action.kind === 'local') log.info(`using only locally-known addresses for ${formatScope(scope)}`);
      if (action.kind !== 'forward') continue;
      this.#announceServer(action.server, scope.kind === 'all' ? '' : ` for domain ${formatScope(scope)}`);
    }
  }

  #announceServer(server: UpstreamAddress, domain: string): void {
    const { log, isOurselves } = this.#options;
    const text = toDnsmasqServer(formatUpstream(server));
    if (isOurselves(server)) log.warn(`ignoring nameserver ${text} - local interface`);
    else log.info(`using nameserver ${text}${domain}`);
  }
}

function hasServer(routes: readonly DnsmasqRoute[]): boolean {
  return routes.some(({ action }) => action.kind === 'forward');
}

function formatScope(scope: DnsmasqRoute['scope']): string {
  if (scope.kind === 'domain') return scope.name.slice(0, -1);
  if (scope.kind === 'suffix') return `*${scope.text}`;
  return scope.kind === 'plain-names' ? 'unqualified names' : 'all names';
}
