/**
 * Reads files repeatedly, but only those that may have changed since the last time.
 */
import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { describeError } from '@portolan/kernel/base/describe-error.ts';

/** The contents of a file when it was read. Equal digests mean equal readings. */
export type FileReading =
  /** `octets` is empty if only digests are wanted. */
  | { readonly kind: 'content'; readonly digest: string; readonly size: number; readonly octets: Buffer }
  | { readonly kind: 'unreadable'; readonly digest: string; readonly reason: string };

/** Larger files are not read: lists of a million names have 20 to 40 MB. */
const MAX_OCTETS = 64 * 2 ** 20;
/** How long a file may change while its times stay the same: the coarsest timestamp of file systems in use. */
const RACY_MILLISECONDS = 2_000;
/** Octets read at a time. */
export const PIECE_OCTETS = 64 * 1024;
const NO_OCTETS = Buffer.alloc(0);

/** A hash to update with the contents of a file. */
export const createDigest = (): Hash => createHash('sha256');
export const finishDigest = (hash: Hash): string => hash.digest('base64');

export class FileReader {
  readonly #digestsOnly: boolean;
  readonly #known = new Map<string, { readonly signature: string; readonly reading: FileReading }>();

  /** @param digestsOnly whether to return only digests, so that large files are not held in memory */
  constructor(digestsOnly = false) {
    this.#digestsOnly = digestsOnly;
  }

  /**
   * @param now milliseconds since the epoch
   * @returns undefined if the path is not a regular file
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
    const reading = await (this.#digestsOnly ? readDigest(path) : readContent(path));
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
    const digest = finishDigest(createDigest().update(octets));
    return { kind: 'content', digest, size: octets.length, octets };
  } catch (error) {
    return unreadable(error);
  }
}

async function readDigest(path: string): Promise<FileReading> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const hash = createDigest();
    const piece = Buffer.allocUnsafe(PIECE_OCTETS);
    let size = 0;
    for (;;) {
      const { bytesRead } = await file.read(piece);
      if (bytesRead === 0) return { kind: 'content', digest: finishDigest(hash), size, octets: NO_OCTETS };
      hash.update(piece.subarray(0, bytesRead));
      size += bytesRead;
    }
  } catch (error) {
    return unreadable(error);
  } finally {
    await file?.close();
  }
}

function unreadable(error: unknown): FileReading {
  const reason = describeError(error);
  return { kind: 'unreadable', digest: `unreadable: ${reason}`, reason };
}
