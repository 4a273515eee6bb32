/**
 * Follows the upstream servers of resolv.conf files. Of several files the last modified counts. If that has systemd's stub
 * resolver, systemd's second file counts instead.
 *
 * Files are polled, since a file mounted by itself changes without a notification for its folder. If a file disappears or has
 * no server any more, the servers stay the same: the file is probably being rewritten.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import {
  type FollowedResolvConf,
  type ResolvConfProblem,
  readResolvConf,
} from '@portolan/kernel/forward/resolv-conf.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { findNewest, readFileSignature, readIfThere } from './file-times.ts';

export interface ResolvFilesOptions {
  readonly paths: readonly string[];
  /** Whether to follow changes; otherwise only `reload` reads them. */
  readonly follows: boolean;
  readonly events: ResolvFileEvents;
  readonly clock: Clock;
  readonly log: Log;
}

/** Events of the files, for logs, in order. */
export interface ResolvFileEvents {
  /** A file that existed, or should exist from the start, is inaccessible. */
  missing(path: string, error: unknown): void;
  /** A file is new or has changed. */
  reading(path: string): void;
  /** Lines without a usable server. */
  problems(path: string, problems: readonly ResolvConfProblem[]): void;
  /** The file has no servers. */
  empty(path: string): void;
  /** The servers of the file that counts, after it was read; not called by `start` and `reload`. */
  changed(servers: readonly UpstreamAddress[]): void;
}

/** Polling interval. */
const POLL_MILLISECONDS = 500;

export class ResolvFiles {
  readonly #options: ResolvFilesOptions;
  readonly #guard: ItemGuard;
  #servers: readonly UpstreamAddress[] = [];
  /** The file that counts and systemd's second file, with their times, as last read. */
  #read = '';
  #behind: readonly string[] = [];
  #missing: ReadonlySet<string> = new Set();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: ResolvFilesOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#guard = new ItemGuard({ source: 'resolv-conf', clock, log });
  }

  /** The current servers. */
  get servers(): readonly UpstreamAddress[] {
    return this.#servers;
  }

  /** Reads the files, and follows them from then on. */
  async start(): Promise<void> {
    await this.#look();
    this.#followLater();
  }

  /** Reads the files again, changed or not. */
  async reload(): Promise<void> {
    this.#read = '';
    await this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #followLater(): void {
    const { paths, follows, clock } = this.#options;
    if (this.#isStopped || !follows || paths.length === 0) return;
    this.#timer = clock.after(POLL_MILLISECONDS, () => void this.#follow());
  }

  async #follow(): Promise<void> {
    const hasServers = await this.#look();
    if (this.#isStopped) return;
    if (hasServers) this.#options.events.changed(this.#servers);
    this.#followLater();
  }

  /** @returns whether a file with servers was read */
  async #look(): Promise<boolean> {
    const { paths, events } = this.#options;
    const missing = new Set<string>();
    const path = await findNewest(paths, (gone, error) => {
      missing.add(gone);
      if (!this.#missing.has(gone)) events.missing(gone, error);
    });
    this.#missing = missing;
    if (path === undefined || (await readFileSignature([path, ...this.#behind])) === this.#read) return false;
    events.reading(path);
    const read = this.#guard.take(
      () => path,
      () => readResolvConf(path, readIfThere),
    );
    if (read === undefined) return false;
    await this.#note(path, read);
    if (read.problems.length > 0) {
      this.#guard.count('malformed', read.problems.length);
      events.problems(path, read.problems);
    }
    if (read.servers.length === 0) events.empty(path);
    else this.#servers = read.servers;
    return read.servers.length > 0;
  }

  async #note(path: string, { files }: FollowedResolvConf): Promise<void> {
    this.#behind = files.filter((file) => file !== path);
    this.#read = await readFileSignature([path, ...this.#behind]);
  }
}
