/**
 * Access to the files that a Corefile names.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface CorefileFiles {
  /** The text of a file. @throws Error with Node's `code` */
  read(path: string): string;
  /** @returns undefined if the path does not exist; other errors count as existing */
  findKind(path: string): 'file' | 'folder' | undefined;
  /** The names in a folder, in any order; empty if it cannot be read. */
  list(folder: string): readonly string[];
}

export const DISK_FILES: CorefileFiles = {
  read: (path) => readFileSync(path, 'utf8'),
  findKind(path) {
    try {
      return statSync(path).isDirectory() ? 'folder' : 'file';
    } catch {
      return undefined;
    }
  },
  list(folder) {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  },
};

/**
 * The paths that match a pattern, sorted by name: `*` matches characters except slashes, `?` matches one.
 *
 * @param pattern an absolute path
 */
export function findMatches(pattern: string, files: CorefileFiles): readonly string[] {
  if (!/[*?]/.test(pattern)) return files.findKind(pattern) === undefined ? [] : [pattern];
  const folder = dirname(pattern);
  const name = basename(pattern);
  const folders = /[*?]/.test(folder) ? findMatches(folder, files) : [folder];
  const isMatch = namePattern(name);
  return folders.flatMap((path) =>
    /[*?]/.test(name)
      ? // By octets, as Go sorts.
        [...files.list(path)]
          .filter((entry) => isMatch.test(entry))
          .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          .map((entry) => join(path, entry))
      : findMatches(join(path, name), files),
  );
}

/** The pattern has at most one `*` and one `?`, so matching is fast. */
function namePattern(name: string): RegExp {
  const escaped = name.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`, 'su');
}
