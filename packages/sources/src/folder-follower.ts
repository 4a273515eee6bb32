/**
 * Follows the files of one folder: reports their current contents, and then every change.
 *
 * A notification of the system only wakes it up; only the contents of the files count. So it works with editors that write
 * in place or rename, with ConfigMap volumes whose `..data` link is swapped, and, by polling, without notifications. It
 * reports a change once two checks in a row saw the same, so half-written files are not read.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { FileReader, type FileReading } from './file-reader.ts';

/** The change of a file since the last report. */
export type FileChange =
  /** `octets` is empty if only digests are wanted. */
  | {
      readonly kind: 'content';
      readonly file: string;
      readonly digest: string;
      readonly size: number;
      readonly octets: Buffer;
    }
  | { readonly kind: 'unreadable'; readonly file: string; readonly reason: string }
  | { readonly kind: 'gone'; readonly file: string };

export interface FollowOptions {
  readonly folder: string;
  /** Whether a file of this name is of interest. */
  readonly accepts: (name: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Called first with all files, then with the differences. `file` is the path: folder and name. */
  readonly onChange: (changes: readonly FileChange[]) => void;
  /** Milliseconds between checks without a notification. Default: 5000. */
  readonly period?: number;
  /** Whether a folder that is unreadable at the start counts as empty until it is readable. */
  readonly mayBeMissing?: boolean;
  /** Whether to report only digests, so that large files are not held in memory. */
  readonly digestsOnly?: boolean;
}

export class FolderError extends Error {
  override readonly name = 'FolderError';
  readonly folder: string;

  constructor(folder: string, cause: NodeJS.ErrnoException) {
    const reason = cause.code ?? cause.message;
    super(`cannot read folder: ${folder}: ${reason}. Give a folder that exists and is readable.`, { cause });
    this.folder = folder;
  }
}

const WAKE_MILLISECONDS = 20;
const SETTLE_MILLISECONDS = 100;
const PERIOD_MILLISECONDS = 5_000;
/** Number of checks after which a folder that keeps changing is read as it is. */
const MAX_UNSETTLED = 20;

type Observation = ReadonlyMap<string, FileReading>;

export class FolderFollower {
  readonly #options: FollowOptions;
  readonly #reader: FileReader;
  readonly #period: number;
  #reported: Observation = new Map();
  #last: Observation = new Map();
  #unsettled = 0;
  #watcher: FSWatcher | undefined;
  #watchedInode = -1n;
  #timer: Timer | undefined;
  #looking = false;
  #wokenMeanwhile = false;
  #stopped = false;
  #lost = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#period = options.period ?? PERIOD_MILLISECONDS;
    this.#reader = new FileReader(options.digestsOnly);
  }

  /**
   * Reports the contents of the folder, and follows it from then on.
   *
   * @throws FolderError if it cannot be read and must not be missing
   */
  async start(): Promise<void> {
    this.#looking = true;
    await this.#watch();
    this.#last = await this.#observeFirst();
    this.#report(this.#last);
    this.#endLook(this.#period);
  }

  /** Checks now, without a notification. */
  look(): void {
    this.#wake();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#watcher?.close();
  }

  #lookAfter(milliseconds: number): void {
    this.#timer?.cancel();
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(milliseconds, () => void this.#look());
  }

  #wake(): void {
    if (this.#looking) this.#wokenMeanwhile = true;
    else if (this.#unsettled === 0) this.#lookAfter(WAKE_MILLISECONDS);
  }

  async #look(): Promise<void> {
    this.#looking = true;
    let pause = this.#period;
    try {
      await this.#watch();
      pause = this.#compare(await this.#observe());
      this.#lost = false;
    } catch (error) {
      this.#complain(error);
    }
    this.#endLook(pause);
  }

  /** @param pause milliseconds until the next check, unless a notification came during this one */
  #endLook(pause: number): void {
    this.#looking = false;
    this.#lookAfter(this.#wokenMeanwhile ? Math.min(pause, SETTLE_MILLISECONDS) : pause);
    this.#wokenMeanwhile = false;
  }

  /** @returns milliseconds until the next check */
  #compare(now: Observation): number {
    if (this.#stopped) return this.#period;
    const settled = isSame(now, this.#last) || this.#unsettled >= MAX_UNSETTLED;
    this.#last = now;
    if (isSame(now, this.#reported)) this.#unsettled = 0;
    else if (settled) this.#report(now);
    else {
      this.#unsettled += 1;
      return SETTLE_MILLISECONDS;
    }
    return this.#period;
  }

  #report(now: Observation): void {
    this.#unsettled = 0;
    const changes = listChanges(this.#options.folder, this.#reported, now);
    this.#reported = now;
    this.#options.onChange(changes);
  }

  async #observeFirst(): Promise<Observation> {
    try {
      return await this.#observe();
    } catch (error) {
      if (this.#options.mayBeMissing !== true || !(error instanceof FolderError)) throw error;
      this.#options.log.warn('folder not there yet, taken as empty', { reason: error.message });
      this.#lost = true;
      return new Map();
    }
  }

  /** @throws FolderError */
  async #observe(): Promise<Observation> {
    const { folder, accepts, clock } = this.#options;
    let names: string[];
    try {
      names = await readdir(folder);
    } catch (error) {
      throw new FolderError(folder, error as NodeJS.ErrnoException); // The errors of fs functions.
    }
    const accepted = names.filter(accepts).sort();
    const observation = new Map<string, FileReading>();
    for (const name of accepted) {
      const reading = await this.#reader.read(join(folder, name), clock.now());
      if (reading !== undefined) observation.set(name, reading);
    }
    this.#reader.keepOnly(accepted.map((name) => join(folder, name)));
    return observation;
  }

  /** Watches the folder that is now at the path, which may have been replaced. If that fails, polling remains. */
  async #watch(): Promise<void> {
    try {
      const { ino } = await stat(this.#options.folder, { bigint: true });
      if (this.#stopped || ino === this.#watchedInode) return;
      this.#watcher?.close();
      this.#watcher = watch(this.#options.folder, { persistent: false }, () => this.#wake());
      this.#watchedInode = ino;
      this.#watcher.on('error', () => {
        this.#watchedInode = -1n;
      });
    } catch (error) {
      this.#watchedInode = -1n;
      this.#options.log.debug('no notices of changes in folder', { reason: String(error) });
    }
  }

  #complain(error: unknown): void {
    const { log } = this.#options;
    if (!(error instanceof FolderError))
      log.error('cannot apply change of folder', { reason: String(error) });
    else if (!this.#lost) log.error('folder lost, its last state stays', { reason: error.message });
    this.#lost = true;
  }
}

function isSame(one: Observation, other: Observation): boolean {
  if (one.size !== other.size) return false;
  for (const [name, reading] of one) if (other.get(name)?.digest !== reading.digest) return false;
  return true;
}

function listChanges(folder: string, before: Observation, now: Observation): readonly FileChange[] {
  const changes: FileChange[] = [];
  for (const [name, reading] of now) {
    const file = join(folder, name);
    if (before.get(name)?.digest === reading.digest) continue;
    if (reading.kind === 'unreadable') changes.push({ kind: 'unreadable', file, reason: reading.reason });
    else changes.push({ ...reading, file });
  }
  for (const name of before.keys())
    if (!now.has(name)) changes.push({ kind: 'gone', file: join(folder, name) });
  return changes;
}
