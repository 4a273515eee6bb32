/**
 * Whether files are still those that were read: a rotation puts other files into their places, or other contents into them.
 */
import { type BigIntStats, statSync } from 'node:fs';

/** A text that stays equal while the file is neither changed nor replaced. */
export function describeFileVersion(path: string, { dev, ino, mtimeNs, ctimeNs }: BigIntStats): string {
  return [path, dev, ino, mtimeNs, ctimeNs].join();
}

/** A text that stays equal while the files are neither changed nor replaced. One that cannot be reached is only its path. */
export function readFileVersions(paths: readonly string[]): string {
  return paths.map((path) => readFileVersion(path)).join(' ');
}

function readFileVersion(path: string): string {
  try {
    return describeFileVersion(path, statSync(path, { bigint: true }));
  } catch {
    return path;
  }
}
