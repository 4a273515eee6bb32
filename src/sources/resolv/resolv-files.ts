/**
 * The upstream servers of resolv.conf files, followed as they change: of several files the one that was changed last counts, and
 * behind systemd's stub its second file.
 *
 * Files are looked at in turns, since one that is mounted by itself changes without any notice in its folder. A file that goes away
 * or names no server any more leaves the servers as they were: it is most likely being written.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { ItemFence } from '../../base/item-fence.ts';
import type { Log } from '../../base/log.ts';
import {
  type FollowedResolvConf,
  type ResolvConfProblem,
  readResolvConf,
} from '../../forward/resolv-conf.ts';
import type { UpstreamAddress } from '../../forward/upstream-address.ts';
import { findNewest, readIfThere, signatureOf } from './file-times.ts';

export interface ResolvFilesOptions {
  readonly paths: readonly string[];
  /** Whether changes are followed; if not, `reload` reads them. */
  readonly follows: boolean;
  readonly events: ResolvFileEvents;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is seen of the files, for logs, in the order in which it is seen. */
export interface ResolvFileEvents {
  /** A file that was there, or should have been from the start, cannot be looked at. */
  missing(path: string, error: unknown): void;
  /** A file is new or has changed. */
  reading(path: string): void;
  /** Lines that name no usable server. */
  problems(path: string, problems: readonly ResolvConfProblem[]): void;
  /** It names no server at all. */
  empty(path: string): void;
  /** The servers of the file that counts, after it was read; not for what `start` and `reload` find. */
  changed(servers: readonly UpstreamAddress[]): void;
}

/** How often the files are looked at. */
const POLL_MILLISECONDS = 500;

export class ResolvFiles {
  readonly #options: ResolvFilesOptions;
  readonly #fence: ItemFence;
  #servers: readonly UpstreamAddress[] = [];
  /** The file that counts and the one behind systemd's stub, with their times, as last read. */
  #read = '';
  #behind: readonly string[] = [];
  #missing: ReadonlySet<string> = new Set();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: ResolvFilesOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#fence = new ItemFence({ source: 'resolv-conf', clock, log });
  }

  /** The servers that are named now. */
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

  /** @returns whether a file was read that names servers */
  async #look(): Promise<boolean> {
    const { paths, events } = this.#options;
    const missing = new Set<string>();
    const path = await findNewest(paths, (gone, error) => {
      missing.add(gone);
      if (!this.#missing.has(gone)) events.missing(gone, error);
    });
    this.#missing = missing;
    if (path === undefined || (await signatureOf([path, ...this.#behind])) === this.#read) return false;
    events.reading(path);
    const read = this.#fence.take(
      () => path,
      () => readResolvConf(path, readIfThere),
    );
    if (read === undefined) return false;
    await this.#note(path, read);
    if (read.problems.length > 0) {
      this.#fence.count('malformed', read.problems.length);
      events.problems(path, read.problems);
    }
    if (read.servers.length === 0) events.empty(path);
    else this.#servers = read.servers;
    return read.servers.length > 0;
  }

  async #note(path: string, { files }: FollowedResolvConf): Promise<void> {
    this.#behind = files.filter((file) => file !== path);
    this.#read = await signatureOf([path, ...this.#behind]);
  }
}
