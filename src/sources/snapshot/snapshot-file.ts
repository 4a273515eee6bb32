/**
 * The file of the last good state: a header that names the owner of the state, a line per object, a footer with a checksum.
 *
 * It is replaced atomically, and is valid only as a whole.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile } from '../../base/replace-file.ts';

/** The owner of a snapshot's state. Another cluster's names must never be served. */
export interface SnapshotOwner {
  /** The zone. */
  readonly domain: string;
  /** The source of the objects: the API server, the folder. */
  readonly source: string;
  /** The UID of the namespace `kube-system`, which is unique per cluster; undefined if unknown. */
  readonly cluster?: string | undefined;
}

interface Head extends SnapshotOwner {
  readonly format: 'portolan snapshot';
  readonly version: number;
  /** Time of writing, in ISO 8601. */
  readonly written: string;
}

interface Foot {
  readonly lines: number;
  /** Digest of all octets above the footer. */
  readonly sha256: string;
}

export type SnapshotReading =
  | {
      readonly kind: 'good';
      /** Read from the octets of the file as they are taken. */
      readonly lines: Iterable<string>;
      readonly count: number;
      /** When the state was last known to be current, in milliseconds since the epoch. */
      readonly written: number;
      /** Whether file and reader have the cluster's UID, and both are the same. */
      readonly isVerified: boolean;
    }
  | { readonly kind: 'none' }
  /** The file exists but must not be used. */
  | { readonly kind: 'unusable'; readonly reason: string };

export class SnapshotWriteError extends Error {
  override readonly name = 'SnapshotWriteError';
  readonly file: string;

  constructor(file: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`cannot write snapshot, an older one stays: ${file}: ${reason}`, { cause });
    this.file = file;
  }
}

/** Version of the header and of the lines: it increases when the meaning of either changes. */
const VERSION = 1;
const CHUNK_CHARACTERS = 256 * 1024;
const LINE_FEED = 0x0a;

/**
 * Replaces the file.
 *
 * @param lines without line ends; read in portions
 * @param now milliseconds since the epoch
 * @returns the number of lines
 * @throws SnapshotWriteError and leaves the older file as it was
 */
export async function writeSnapshot(
  file: string,
  owner: SnapshotOwner,
  lines: Iterable<string>,
  now: number,
): Promise<number> {
  try {
    const count = await replaceFile(file, 0o600, async (handle) => {
      const written = await writeAll(handle, owner, lines, now);
      await handle.sync();
      return written;
    });
    await syncFolder(dirname(file));
    return count;
  } catch (error) {
    throw new SnapshotWriteError(file, error);
  }
}

async function writeAll(
  handle: FileHandle,
  { domain, source, cluster }: SnapshotOwner,
  lines: Iterable<string>,
  now: number,
): Promise<number> {
  const hash = createHash('sha256');
  const written = new Date(now).toISOString();
  const head: Head = { format: 'portolan snapshot', version: VERSION, domain, source, cluster, written };
  let chunk = `${JSON.stringify(head)}\n`;
  const flush = async () => {
    hash.update(chunk);
    await handle.writeFile(chunk);
    chunk = '';
  };
  let count = 0;
  for (const line of lines) {
    count += 1;
    chunk += `${line}\n`;
    if (chunk.length > CHUNK_CHARACTERS) await flush();
  }
  await flush();
  const foot: Foot = { lines: count, sha256: hash.digest('hex') };
  await handle.writeFile(`${JSON.stringify(foot)}\n`);
  return count;
}

/** A rename survives a crash only if the folder is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Never throws: the result has the reason if the file cannot be used. */
export async function readSnapshot(file: string, owner: SnapshotOwner): Promise<SnapshotReading> {
  let octets: Buffer;
  try {
    octets = await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'none' };
    return unusable(error instanceof Error ? error.message : String(error));
  }
  const footStart = octets.lastIndexOf(LINE_FEED, octets.length - 2) + 1;
  const foot = parseFoot(octets.toString('utf8', footStart));
  if (foot === undefined) return unusable('its end is missing');
  const body = octets.subarray(0, footStart);
  if (createHash('sha256').update(body).digest('hex') !== foot.sha256)
    return unusable('its checksum is wrong');
  const headEnd = body.indexOf(LINE_FEED) + 1;
  const head = parseHead(body.toString('utf8', 0, headEnd));
  if (head === undefined || countLines(body) !== foot.lines + 1) return unusable('it is not a snapshot');
  if (head.version !== VERSION) return unusable(`it is of version ${head.version}, not ${VERSION}`);
  if (head.domain !== owner.domain) return unusable(`it is of another zone: ${head.domain}`);
  if (head.source !== owner.source) return unusable(`it is of another cluster: ${head.source}`);
  const isKnown = head.cluster !== undefined && owner.cluster !== undefined;
  if (isKnown && head.cluster !== owner.cluster)
    return unusable(`it is of another cluster: its kube-system has the UID ${head.cluster}`);
  const written = Date.parse(head.written);
  if (Number.isNaN(written)) return unusable(`it was written at no time: ${head.written}`);
  const lines = splitLines(body.subarray(headEnd));
  return { kind: 'good', lines, count: foot.lines, written, isVerified: isKnown };
}

function countLines(octets: Buffer): number {
  let count = 0;
  for (let at = octets.indexOf(LINE_FEED); at >= 0; at = octets.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}

/** Separate strings, which do not keep the whole file in memory. */
function* splitLines(octets: Buffer): Iterable<string> {
  for (let start = 0; start < octets.length; ) {
    const end = octets.indexOf(LINE_FEED, start);
    yield octets.toString('utf8', start, end);
    start = end + 1;
  }
}

function parseHead(line: string): Head | undefined {
  const head = parseRecord(line);
  if (head?.['format'] !== 'portolan snapshot' || typeof head['version'] !== 'number') return undefined;
  const texts = [head['domain'], head['source'], head['written'], head['cluster'] ?? ''];
  // Each field has the type that the interface declares.
  return texts.every((text) => typeof text === 'string') ? (head as unknown as Head) : undefined;
}

function parseFoot(line: string): Foot | undefined {
  const foot = line.endsWith('\n') ? parseRecord(line) : undefined;
  const lines = foot?.['lines'];
  const sha256 = foot?.['sha256'];
  return typeof lines === 'number' && typeof sha256 === 'string' ? { lines, sha256 } : undefined;
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function unusable(reason: string): SnapshotReading {
  return { kind: 'unusable', reason };
}
