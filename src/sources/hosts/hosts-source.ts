/**
 * Hosts files, followed as they change: single ones, and all those of a folder.
 *
 * Whenever one of them has changed, names are made of all of them anew, in the order in which they are to be read. Their
 * contents are not held in memory: they are read again then.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { createDigest, digestOf, PIECE_OCTETS } from '../file-reader.ts';
import { type FileChange, FolderFollower } from '../folder-follower.ts';

export interface HostsFile {
  readonly path: string;
  /** Another one whenever the file has changed. */
  readonly digest: string;
  /** Octets. */
  readonly size: number;
  /**
   * Reads the file in pieces, each of which is good until the next.
   *
   * @returns whether it is still what the digest says
   */
  read(): Generator<Uint8Array, boolean>;
}

export interface HostsSourceOptions {
  /** Files and folders, in the order in which they are to be read. The files of a folder are read by their names. */
  readonly paths: readonly string[];
  /** Whether a file of this name in a folder is a hosts file. */
  readonly isHostsFile: (name: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when `files` has changed; not for what `start` has found. */
  readonly onChange: () => void;
}

/** A file that is mounted by itself, as a pod's `/etc/hosts`, changes without any notice in its folder. */
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

  /** Reads all files, and follows them from then on. What is missing is said in the log, and waited for. */
  async start(): Promise<void> {
    this.#followed = await Promise.all(this.#options.paths.map((path) => this.#follow(resolve(path))));
    await Promise.all(this.#followed.map(({ follower }) => follower.start()));
    this.#started = true;
    if (this.#stopped) this.stop();
  }

  /** All files that can be read now. */
  files(): readonly HostsFile[] {
    return this.#followed.flatMap(({ files }) =>
      [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1)),
    );
  }

  /** Looks for changes now, though they are found without. */
  look(): void {
    for (const { follower } of this.#followed) follower.look();
  }

  stop(): void {
    this.#stopped = true;
    for (const { follower } of this.#followed) follower.stop();
  }

  async #follow(path: string): Promise<FollowedPath> {
    const { isHostsFile, clock, log } = this.#options;
    const kind = await kindOf(path);
    if (kind === 'missing') log.warn('hosts file missing, it is waited for', { file: path });
    const isFolder = kind === 'folder';
    const files = new Map<string, HostsFile>();
    const follower = new FolderFollower({
      folder: isFolder ? path : dirname(path),
      accepts: isFolder ? isHostsFile : (name) => name === basename(path),
      period: PERIOD_MILLISECONDS,
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
    return digestOf(hash) === digest;
  } catch {
    // It is gone, or may not be read any more: that is reported as a change.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'missing'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch {
    // Whatever keeps us from it now may be over later.
    return 'missing';
  }
}
