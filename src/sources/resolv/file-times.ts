/**
 * When files were changed: which of several is the newest, and whether any is another than before.
 */
import { type BigIntStats, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';

/** @param onMissing called for each that cannot be looked at @returns the one that was changed last */
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

/** Equal as long as none of the files was changed or replaced. */
export async function signatureOf(paths: readonly string[]): Promise<string> {
  const all = await Promise.all(
    paths.map((path) =>
      stat(path, { bigint: true }).then(
        ({ dev, ino, mtimeNs, ctimeNs }: BigIntStats) => [path, dev, ino, mtimeNs, ctimeNs].join(),
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
