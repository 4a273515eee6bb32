/**
 * The file of the last good state: a line that names the owner of the state, the state as lines of text or as octets, a last line with
 * a checksum.
 *
 * It is replaced atomically, and is valid only as a whole.
 */
import { createHash, type Hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { replaceFile } from '@portolan/kernel/base/replace-file.ts';

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
  /** Of octets; lines are counted in the footer. */
  readonly objects?: number;
}

interface Foot {
  readonly lines: number | undefined;
  /** Digest of all octets above the footer. */
  readonly sha256: string;
}

/** A state to be written. */
export type SnapshotState =
  /** Without line ends; read in portions. */
  | { readonly kind: 'lines'; readonly lines: Iterable<string> }
  /** One behind another. */
  | { readonly kind: 'octets'; readonly parts: readonly Uint8Array[]; readonly count: number };

export type SnapshotContent =
  /** Read from the octets of the file as they are taken. */
  | { readonly kind: 'lines'; readonly lines: Iterable<string> }
  /** At a multiple of four octets in their memory, if that begins at one. */
  | { readonly kind: 'octets'; readonly octets: Uint8Array };

export type SnapshotReading =
  | {
      readonly kind: 'good';
      readonly content: SnapshotContent;
      /** Objects. */
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
    const reason = describeError(cause);
    super(`cannot write snapshot, an older one stays: ${file}: ${reason}`, { cause });
    this.file = file;
  }
}

/** Versions of the header and of the state: they increase when the meaning of either changes. */
const VERSION = { lines: 1, octets: 2 } as const;
const CHUNK_CHARACTERS = 256 * 1024;
const LINE_FEED = 0x0a;
/** Octets behind the first line begin at a multiple of this. */
const ALIGNMENT = 16;

/**
 * Replaces the file.
 *
 * @param now milliseconds since the epoch
 * @returns the number of objects
 * @throws SnapshotWriteError and leaves the older file as it was
 */
export async function writeSnapshot(
  file: string,
  owner: SnapshotOwner,
  state: SnapshotState,
  now: number,
): Promise<number> {
  try {
    const count = await replaceFile(file, 0o600, async (handle) => {
      const written = await writeAll(handle, owner, state, now);
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
  state: SnapshotState,
  now: number,
): Promise<number> {
  const hash = createHash('sha256');
  const written = new Date(now).toISOString();
  const version = VERSION[state.kind];
  const objects = state.kind === 'octets' ? { objects: state.count } : {};
  const head: Head = { format: 'portolan snapshot', version, domain, source, cluster, written, ...objects };
  const text = JSON.stringify(head);
  const padding = (ALIGNMENT - ((Buffer.byteLength(text) + 1) % ALIGNMENT)) % ALIGNMENT;
  await writeChunk(handle, hash, `${text}${' '.repeat(state.kind === 'octets' ? padding : 0)}\n`);
  const isLines = state.kind === 'lines';
  const lines = isLines ? await writeLines(handle, hash, state.lines) : undefined;
  if (!isLines) await writeOctets(handle, hash, state.parts);
  const foot: Foot = { lines, sha256: hash.digest('hex') };
  await handle.writeFile(`${JSON.stringify(foot)}\n`);
  return isLines ? (lines ?? 0) : state.count;
}

async function writeLines(handle: FileHandle, hash: Hash, lines: Iterable<string>): Promise<number> {
  let chunk = '';
  let count = 0;
  for (const line of lines) {
    count += 1;
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    await writeChunk(handle, hash, chunk);
    chunk = '';
  }
  await writeChunk(handle, hash, chunk);
  return count;
}

async function writeOctets(handle: FileHandle, hash: Hash, parts: readonly Uint8Array[]): Promise<void> {
  for (const part of parts)
    for (let at = 0; at < part.length; at += CHUNK_CHARACTERS)
      await writeChunk(handle, hash, part.subarray(at, at + CHUNK_CHARACTERS));
  await writeChunk(handle, hash, '\n');
}

async function writeChunk(handle: FileHandle, hash: Hash, chunk: string | Uint8Array): Promise<void> {
  hash.update(chunk);
  await handle.writeFile(chunk);
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

/**
 * Never throws: the result has the reason if the file cannot be used.
 *
 * @param owner asked for while the file is read
 */
export async function readSnapshot(
  file: string,
  owner: SnapshotOwner | Promise<SnapshotOwner>,
): Promise<SnapshotReading> {
  let octets: Buffer;
  try {
    octets = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'none' };
    return unusable(describeError(error));
  }
  const headEnd = octets.indexOf(LINE_FEED) + 1;
  const head = parseHead(octets.toString('utf8', 0, headEnd));
  if (head !== undefined && head.version !== VERSION.lines && head.version !== VERSION.octets)
    return unusable(`it is of version ${head.version}, not ${VERSION.lines} or ${VERSION.octets}`);
  const footStart = octets.lastIndexOf(LINE_FEED, octets.length - 2) + 1;
  const foot = parseFoot(octets.toString('utf8', footStart));
  if (foot === undefined) return unusable('its end is missing');
  const body = octets.subarray(0, footStart);
  if (createHash('sha256').update(body).digest('hex') !== foot.sha256)
    return unusable('its checksum is wrong');
  const found = head && readContent(head, body.subarray(headEnd), foot);
  if (head === undefined || found === undefined) return unusable('it is not a snapshot');
  return judge(head, await owner, found);
}

interface FoundContent {
  readonly content: SnapshotContent;
  readonly count: number;
}

/** @returns undefined if it has not what its ends say */
function readContent(head: Head, octets: Buffer, { lines }: Foot): FoundContent | undefined {
  if (head.version === VERSION.lines)
    return countLines(octets) === lines
      ? { content: { kind: 'lines', lines: splitLines(octets) }, count: lines }
      : undefined;
  // A line feed is behind the octets.
  if (head.objects === undefined || octets.length === 0) return undefined;
  return { content: { kind: 'octets', octets: octets.subarray(0, -1) }, count: head.objects };
}

function judge(head: Head, owner: SnapshotOwner, found: FoundContent): SnapshotReading {
  if (head.domain !== owner.domain) return unusable(`it is of another zone: ${head.domain}`);
  if (head.source !== owner.source) return unusable(`it is of another cluster: ${head.source}`);
  const isKnown = head.cluster !== undefined && owner.cluster !== undefined;
  if (isKnown && head.cluster !== owner.cluster)
    return unusable(`it is of another cluster: its kube-system has the UID ${head.cluster}`);
  const written = Date.parse(head.written);
  if (Number.isNaN(written)) return unusable(`it was written at no time: ${head.written}`);
  return { kind: 'good', ...found, written, isVerified: isKnown };
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
  if (typeof (head['objects'] ?? 0) !== 'number') return undefined;
  const texts = [head['domain'], head['source'], head['written'], head['cluster'] ?? ''];
  // Each field has the type that the interface declares.
  return texts.every((text) => typeof text === 'string') ? (head as unknown as Head) : undefined;
}

function parseFoot(line: string): Foot | undefined {
  const foot = line.endsWith('\n') ? parseRecord(line) : undefined;
  const lines = foot?.['lines'];
  const sha256 = foot?.['sha256'];
  if (typeof sha256 !== 'string' || (lines !== undefined && typeof lines !== 'number')) return undefined;
  return { lines, sha256 };
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
