/**
 * Logs the invalid lines of hosts files: each line once while its file is unchanged, and at most the first 20 of each
 * file.
 */
import type { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { HostsWarning } from './hosts-manner.ts';
import type { HostsFile } from './hosts-source.ts';

const MAX_LINES = 20;

export class ParseWarningReport {
  readonly #log: Log;
  readonly #guard: ItemGuard;
  #known: ReadonlySet<string> = new Set();
  #files: readonly HostsFile[] = [];
  #counts = new Map<HostsFile, number>();

  constructor(log: Log, guard: ItemGuard) {
    this.#log = log;
    this.#guard = guard;
  }

  /** Starts a read of these files. */
  begin(files: readonly HostsFile[]): void {
    this.#files = files;
    this.#counts = new Map();
  }

  add(file: HostsFile, { line, kind, value }: HostsWarning): void {
    if (this.#known.has(toFileKey(file))) return;
    const count = (this.#counts.get(file) ?? 0) + 1;
    this.#counts.set(file, count);
    this.#guard.count('malformed');
    if (count > MAX_LINES) return;
    this.#log.warn('invalid line in hosts file ignored', { file: file.path, line, bad: kind, value });
  }

  end(): void {
    for (const [{ path }, count] of this.#counts)
      if (count > MAX_LINES)
        this.#log.warn('more bad lines in hosts file', { file: path, more: count - MAX_LINES });
    this.#known = new Set(this.#files.map(toFileKey));
  }
}

const toFileKey = ({ path, digest }: HostsFile): string => `${digest} ${path}`;
