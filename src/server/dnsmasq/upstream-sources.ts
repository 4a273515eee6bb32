/**
 * Servers that stand in files: resolv files, of which the newest counts, and a servers file. Followed as dnsmasq does it: resolv
 * files as they change, unless `--no-poll`; the servers file when it is told to read again.
 */
import { readFile } from 'node:fs/promises';
import type { Route, UpstreamsPlan } from '../../config/dnsmasq/plan.ts';
import { readServersFile } from '../../config/dnsmasq/servers-file.ts';
import { describeProblem } from '../../config/problem.ts';
import { readResolvConf } from '../../forward/resolv-conf.ts';
import { formatUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { findNewest, readIfThere, signatureOf } from './file-times.ts';
import { type ChangingServers, toForwardAddress } from './forward-plan.ts';
import { toDnsmasqServer } from './statistics.ts';

export interface UpstreamSourcesOptions {
  readonly plan: UpstreamsPlan;
  /** Whether a server is this one. */
  readonly isOurselves: (server: UpstreamAddress) => boolean;
  /** @param isReload whether a resolv file has changed since the start */
  readonly onChange: (servers: ServersOfFiles, isReload: boolean) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export type ServersOfFiles = Pick<ChangingServers, 'fromResolvFile' | 'moreRoutes'>;

/** How often resolv files are looked at. */
const POLL_MILLISECONDS = 500;

export class UpstreamSources {
  readonly #options: UpstreamSourcesOptions;
  #fromResolvFile: readonly UpstreamAddress[] = [];
  #moreRoutes: readonly Route[] = [];
  /** The newest resolv file and its times, as last read. */
  #read = '';
  /** The file behind systemd's stub, where that is what the file names. */
  #behind: readonly string[] = [];
  #missing: ReadonlySet<string> = new Set();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: UpstreamSourcesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#readServers();
    await this.#look();
    this.#pass(false);
    this.#followLater();
  }

  /** Reads everything again. */
  async reload(): Promise<void> {
    await this.#readServers();
    this.#read = '';
    await this.#look();
    this.#pass(false);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #followLater(): void {
    const { plan, clock } = this.#options;
    if (this.#isStopped || !plan.followsResolvFiles || plan.resolvFiles.length === 0) return;
    this.#timer = clock.after(POLL_MILLISECONDS, () => void this.#follow());
  }

  async #follow(): Promise<void> {
    if (await this.#look()) this.#pass(true);
    this.#followLater();
  }

  /** @returns whether there was something new to read */
  async #look(): Promise<boolean> {
    const { plan, log } = this.#options;
    const missing = new Set<string>();
    const path = await findNewest(plan.resolvFiles, (gone, error) => {
      missing.add(gone);
      if (!this.#missing.has(gone)) log.error(`failed to access ${gone}: ${codeOf(error)}`);
    });
    this.#missing = missing;
    if (path === undefined || (await signatureOf([path, ...this.#behind])) === this.#read) return false;
    log.info(`reading ${path}`);
    const { servers, problems, files } = readResolvConf(path, readIfThere);
    this.#behind = files.filter((file) => file !== path);
    this.#read = await signatureOf([path, ...this.#behind]);
    for (const { line, message } of problems) log.warn(`${path}:${line}: ${message}`);
    // An empty file is most likely one that is being written: what is known stays.
    if (servers.length === 0) log.warn(`no servers found in ${path}, will retry`);
    else this.#fromResolvFile = servers;
    return servers.length > 0;
  }

  async #readServers(): Promise<void> {
    const { plan, log } = this.#options;
    if (plan.serversFile === undefined) return;
    try {
      const { routes, problems, notes } = readServersFile(await readFile(plan.serversFile), plan.serversFile);
      for (const problem of problems) log.error(describeProblem(problem));
      for (const { where, text } of notes) log.warn(`${where}: ${text}`);
      this.#moreRoutes = routes;
    } catch (error) {
      log.error(`cannot read ${plan.serversFile}: ${codeOf(error)}`);
    }
  }

  #pass(isReload: boolean): void {
    const { plan, onChange } = this.#options;
    onChange({ fromResolvFile: this.#fromResolvFile, moreRoutes: this.#moreRoutes }, isReload);
    this.#announce([...plan.routes, ...this.#moreRoutes]);
  }

  /** In dnsmasq's words. */
  #announce(routes: readonly Route[]): void {
    const { log } = this.#options;
    for (const server of this.#fromResolvFile) this.#announceServer(server, '');
    for (const { scope, action } of routes) {
      const domain = nameOf(scope);
      if (action.kind === 'local') log.info(`using only locally-known addresses for ${domain}`);
      if (action.kind !== 'forward') continue;
      this.#announceServer(
        toForwardAddress(action.server),
        scope.kind === 'all' ? '' : ` for domain ${domain}`,
      );
    }
    const hasServers = routes.some(({ action }) => action.kind === 'forward');
    if (this.#fromResolvFile.length === 0 && !hasServers) log.warn('warning: no upstream servers configured');
  }

  #announceServer(server: UpstreamAddress, domain: string): void {
    const { log, isOurselves } = this.#options;
    const text = toDnsmasqServer(formatUpstream(server));
    if (isOurselves(server)) log.warn(`ignoring nameserver ${text} - local interface`);
    else log.info(`using nameserver ${text}${domain}`);
  }
}

function nameOf(scope: Route['scope']): string {
  if (scope.kind === 'domain') return scope.name.slice(0, -1);
  if (scope.kind === 'suffix') return `*${scope.text}`;
  return scope.kind === 'plain-names' ? 'unqualified names' : 'all names';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
