/**
 * Reads files again and again, and only those that may have changed since the last time.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** What a file held when it was read. Equal digests are equal readings. */
export type FileReading =
  | { readonly kind: 'content'; readonly digest: string; readonly octets: Buffer }
  | { readonly kind: 'unreadable'; readonly digest: string; readonly reason: string };

/** No list that anybody keeps in one file comes near this. */
const MAX_OCTETS = 64 * 2 ** 20;
/** How long a file may change without its times showing it: the coarsest clock of a file system in use. */
const RACY_MILLISECONDS = 2_000;

export class FileReader {
  readonly #known = new Map<string, { readonly signature: string; readonly reading: FileReading }>();

  /**
   * @param now milliseconds since the epoch
   * @returns nothing if there is no regular file of this path
   */
  async read(path: string, now: number): Promise<FileReading | undefined> {
    let status: BigIntStats;
    try {
      status = await stat(path, { bigint: true });
    } catch (error) {
      return unreadable(error);
    }
    if (!status.isFile()) return undefined;
    if (status.size > MAX_OCTETS) return unreadable(`larger than ${MAX_OCTETS} octets`);
    const { dev, ino, size, mtimeNs, ctimeNs } = status;
    const signature = [dev, ino, size, mtimeNs, ctimeNs].join();
    const known = this.#known.get(path);
    if (known?.signature === signature) return known.reading;
    const reading = await readContent(path);
    const isSettled = reading.kind === 'content' && Number(status.ctimeMs) + RACY_MILLISECONDS < now;
    if (isSettled) this.#known.set(path, { signature, reading });
    else this.#known.delete(path);
    return reading;
  }

  /** Forgets all other files. */
  keepOnly(paths: readonly string[]): void {
    const kept = new Set(paths);
    for (const path of this.#known.keys()) if (!kept.has(path)) this.#known.delete(path);
  }
}

async function readContent(path: string): Promise<FileReading> {
  try {
    const octets = await readFile(path);
    const digest = createHash('sha256').update(octets).digest('base64');
    return { kind: 'content', digest, octets };
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): FileReading {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'unreadable', digest: `unreadable: ${reason}`, reason };
}
