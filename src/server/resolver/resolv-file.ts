/**
 * The servers of a resolv.conf, followed as it changes; behind systemd's stub, those of its second file.
 *
 * Servers that are ourselves are left out. When the file goes away or names no server any more, those of before stay: most
 * likely it is being written.
 */
import { basename, dirname, resolve } from 'node:path';
import { type FollowedResolvConf, readResolvConf } from '../../forward/resolv-conf.ts';
import { formatUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { type FileChange, FolderFollower } from '../../sources/folder-follower.ts';

export interface ResolvFileOptions {
  readonly path: string;
  /** Whether a server is this one. */
  readonly isOurselves: (server: UpstreamAddress) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with the servers when they have changed; not for what `start` has found. */
  readonly onChange: (servers: readonly UpstreamAddress[]) => void;
}

/** A file that is mounted by itself changes without any notice in its folder. */
const PERIOD_MILLISECONDS = 1_000;

export class ResolvFile {
  readonly #options: ResolvFileOptions;
  readonly #path: string;
  readonly #texts = new Map<string, string>();
  readonly #followers = new Map<string, FolderFollower>();
  #servers: readonly UpstreamAddress[] = [];
  #isStarted = false;
  #isStopped = false;

  constructor(options: ResolvFileOptions) {
    this.#options = options;
    this.#path = resolve(options.path);
  }

  /** @returns the servers that it names now */
  async start(): Promise<readonly UpstreamAddress[]> {
    await this.#follow(this.#path);
    await this.#followMore(this.#read().files);
    this.#take();
    this.#isStarted = true;
    return this.#servers;
  }

  stop(): void {
    this.#isStopped = true;
    for (const follower of this.#followers.values()) follower.stop();
  }

  async #follow(path: string): Promise<void> {
    const { clock, log } = this.#options;
    const follower = new FolderFollower({
      folder: dirname(path),
      accepts: (name) => name === basename(path),
      period: PERIOD_MILLISECONDS,
      mayBeMissing: true,
      clock,
      log,
      onChange: (changes) => this.#changed(path, changes),
    });
    this.#followers.set(path, follower);
    await follower.start();
    if (this.#isStopped) follower.stop();
  }

  #changed(path: string, changes: readonly FileChange[]): void {
    for (const change of changes) {
      if (change.kind === 'content') this.#texts.set(path, change.octets.toString('utf8'));
      else this.#texts.delete(path);
    }
    if (this.#isStarted && changes.length > 0)
      void this.#followMore(this.#read().files).then(() => this.#take());
  }

  async #followMore(paths: readonly string[]): Promise<void> {
    for (const path of paths) if (!this.#followers.has(path) && !this.#isStopped) await this.#follow(path);
  }

  #read(): FollowedResolvConf {
    return readResolvConf(this.#path, (path) => this.#texts.get(path));
  }

  #take(): void {
    const { isOurselves, log, onChange } = this.#options;
    const { servers, problems } = this.#read();
    for (const { line, message } of problems)
      log.warn('line of resolv file left out', { file: this.#path, line, message });
    const others = servers.filter((server) => !isOurselves(server));
    if (others.length < servers.length)
      log.warn('resolv file names this server, which cannot ask itself', { file: this.#path });
    const isSame = textOf(others) === textOf(this.#servers);
    if (isSame || this.#isStopped) return;
    if (others.length === 0) {
      log.warn('resolv file names no server any more, those of before are asked', {
        file: this.#path,
        servers: textOf(this.#servers),
      });
      return;
    }
    this.#servers = others;
    log.info('upstream servers', { file: this.#path, servers: textOf(others) });
    if (this.#isStarted) onChange(others);
  }
}

const textOf = (servers: readonly UpstreamAddress[]): string => servers.map(formatUpstream).join(', ');
