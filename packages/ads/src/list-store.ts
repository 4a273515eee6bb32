/**
 * The file that keeps the lists that were fetched, so that a start needs no network.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';

export interface StoredList {
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
  readonly text: string;
}

/** Lists by their URLs. An unreadable file is as good as none: the lists are fetched. */
export async function readStore(path: string): Promise<ReadonlyMap<string, StoredList>> {
  try {
    const content: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof content !== 'object' || content === null) return new Map();
    return new Map(
      Object.entries(content).filter((entry): entry is [string, StoredList] => isList(entry[1])),
    );
  } catch {
    return new Map();
  }
}

/** @throws an Error of the file system */
export async function writeStore(path: string, lists: ReadonlyMap<string, StoredList>): Promise<void> {
  const fresh = `${path}.new`;
  await writeFile(fresh, JSON.stringify(Object.fromEntries(lists)), { mode: 0o600 });
  await rename(fresh, path);
}

function isList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { fetchedAt, text } = value as Partial<StoredList>;
  return typeof fetchedAt === 'number' && typeof text === 'string';
}
