/**
 * The files that a Corefile names, as far as they are read while it is taken apart.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface CorefileFiles {
  /** The text of a file. @throws Error whose `code` says why not, as Node's own */
  read(path: string): string;
  /** @returns nothing if there is no such file; other failures count as existing */
  kindOf(path: string): 'file' | 'folder' | undefined;
  /** The names in a folder, in any order; none if it cannot be read. */
  list(folder: string): readonly string[];
}

export const DISK_FILES: CorefileFiles = {
  read: (path) => readFileSync(path, 'utf8'),
  kindOf(path) {
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
 * The paths that a pattern stands for, in the order of their names: `*` is any characters but slashes, `?` is one.
 *
 * @param pattern An absolute path.
 */
export function findMatches(pattern: string, files: CorefileFiles): readonly string[] {
  if (!/[*?]/.test(pattern)) return files.kindOf(pattern) === undefined ? [] : [pattern];
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

/** At most one `*` and one `?` stand in it, so this expression cannot be slow. */
function namePattern(name: string): RegExp {
  const escaped = name.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`, 'su');
}
