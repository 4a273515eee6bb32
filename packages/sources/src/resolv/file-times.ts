/**
 * Modification times of files: finds the newest of several, and detects changes.
 */
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { describeFileVersion } from '@portolan/kernel/base/file-version.ts';

/** @param onMissing called for each inaccessible file @returns the last modified file */
export async function findNewest(
  paths: readonly string[],
  onMissing: (path: string, error: unknown) => void,
): Promise<string | undefined> {
  let newest: { readonly path: string; readonly at: bigint } | undefined;
  for (const path of paths) {
    try {
      const { mtimeNs: at } = await stat(path, { bigint: true });
      if (newest === undefined || at > newest.at) newest = { path, at };
    } catch (error) {
      onMissing(path, error);
    }
  }
  return newest?.path;
}

/** A text that stays equal while the files are neither changed nor replaced. */
export async function readFileSignature(paths: readonly string[]): Promise<string> {
  const all = await Promise.all(
    paths.map((path) =>
      stat(path, { bigint: true }).then(
        (stats) => describeFileVersion(path, stats),
        () => path,
      ),
    ),
  );
  return all.join(' ');
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
