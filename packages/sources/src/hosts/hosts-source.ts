/**
 * Follows hosts files as they change: single files, and all hosts files of a folder.
 *
 * After a change of one file, the names are rebuilt from all files, in reading order. Contents are not held in memory: all
 * files are read again.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { createDigest, finishDigest, PIECE_OCTETS } from '../file-reader.ts';
import { type FileChange, FolderFollower } from '../folder-follower.ts';

export interface HostsFile {
  readonly path: string;
  /** Changes with each change of the file. */
  readonly digest: string;
  /** Octets. */
  readonly size: number;
  /**
   * Reads the file in pieces. Each is valid until the next.
   *
   * @returns whether the contents still match the digest
   */
  read(): Generator<Uint8Array, boolean>;
}

export interface HostsSourceOptions {
  /** Files and folders, in reading order. Files of a folder are read in the order of their names. */
  readonly paths: readonly string[];
  /** Whether a file of this name in a folder is a hosts file. */
  readonly isHostsFile: (name: string) => boolean;
  /** Milliseconds between checks without a notification; 0: files are read once. Default: 500. */
  readonly period?: number;
  /** Whether a missing file is logged. Default: true. */
  readonly isExpected?: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when `files` has changed; not for files found by `start`. */
  readonly onChange: () => void;
}

/** Needed for a file mounted by itself, such as a pod's `/etc/hosts`: it changes without a notification for its folder. */
const PERIOD_MILLISECONDS = 500;

interface FollowedPath {
  readonly follower: FolderFollower;
  readonly files: Map<string, HostsFile>;
}

export class HostsSource {
  readonly #options: HostsSourceOptions;
  #followed: readonly FollowedPath[] = [];
  #started = false;
  #stopped = false;

  constructor(options: HostsSourceOptions) {
    this.#options = options;
  }

  /** Reads all files, and follows them from then on. Missing files are awaited. */
  async start(): Promise<void> {
    this.#followed = await Promise.all(this.#options.paths.map((path) => this.#follow(resolve(path))));
    await Promise.all(this.#followed.map(({ follower }) => follower.start()));
    this.#started = true;
    if (this.#stopped || this.#options.period === 0) this.stop();
  }

  /** All files that can be read now. */
  files(): readonly HostsFile[] {
    return this.#followed.flatMap(({ files }) =>
      [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1)),
    );
  }

  /** Checks for changes now, without waiting for the next check. */
  look(): void {
    for (const { follower } of this.#followed) follower.look();
  }

  stop(): void {
    this.#stopped = true;
    for (const { follower } of this.#followed) follower.stop();
  }

  async #follow(path: string): Promise<FollowedPath> {
    const { isHostsFile, period, isExpected = true, clock, log } = this.#options;
    const kind = await findKind(path);
    if (kind === 'missing' && isExpected) log.warn('hosts file missing, it is waited for', { file: path });
    const isFolder = kind === 'folder';
    const files = new Map<string, HostsFile>();
    const follower = new FolderFollower({
      folder: isFolder ? path : dirname(path),
      accepts: isFolder ? isHostsFile : (name) => name === basename(path),
      period: period ?? PERIOD_MILLISECONDS,
      mayBeMissing: true,
      digestsOnly: true,
      clock,
      log,
      onChange: (changes) => this.#take(files, changes),
    });
    return { follower, files };
  }

  #take(files: Map<string, HostsFile>, changes: readonly FileChange[]): void {
    for (const change of changes) {
      if (change.kind === 'content')
        files.set(change.file, hostsFile(change.file, change.digest, change.size));
      else if (change.kind === 'gone') files.delete(change.file);
      else this.#options.log.error('hosts file cannot be read', { file: change.file, reason: change.reason });
    }
    if (this.#started && changes.length > 0) this.#options.onChange();
  }
}

function hostsFile(path: string, digest: string, size: number): HostsFile {
  return { path, digest, size, read: () => readPieces(path, digest) };
}

function* readPieces(path: string, digest: string): Generator<Uint8Array, boolean> {
  const hash = createDigest();
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const piece = new Uint8Array(PIECE_OCTETS);
    for (let length = readSync(file, piece); length > 0; length = readSync(file, piece)) {
      hash.update(piece.subarray(0, length));
      yield piece.subarray(0, length);
    }
    return finishDigest(hash) === digest;
  } catch {
    // Deleted or no longer readable: this is reported as a change.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

async function findKind(path: string): Promise<'file' | 'folder' | 'missing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch {
    // The cause may be temporary.
    return 'missing';
  }
}
