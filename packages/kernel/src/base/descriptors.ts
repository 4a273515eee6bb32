/**
 * Shares the file descriptors of the process: clients leave room for sockets to upstream servers, and both leave room for watches
 * and files.
 *
 * The kernel gives a new descriptor the lowest free number. So the number shows how many are taken, by all threads together.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Log } from './log.ts';

/** Who opens a descriptor: `client` for accepted connections, `upstream` for sockets to upstream servers. */
export type DescriptorUse = 'client' | 'upstream';

/** The first number that a use leaves to others. */
export type DescriptorBounds = Readonly<Record<DescriptorUse, number>>;

/** Parts of all descriptors, at least and at most. */
const FOR_FILES = { part: 1 / 8, min: 8, max: 64 };
const FOR_UPSTREAMS = { part: 1 / 4, min: 16, max: 256 };

/** @param limit the maximum number of open descriptors; undefined: unlimited */
export function boundsFor(limit: number | undefined): DescriptorBounds {
  if (limit === undefined) return { client: Number.POSITIVE_INFINITY, upstream: Number.POSITIVE_INFINITY };
  const upstream = limit - computeReserve(limit, FOR_FILES);
  return { client: upstream - computeReserve(limit, FOR_UPSTREAMS), upstream };
}

function computeReserve(limit: number, { part, min, max }: typeof FOR_FILES): number {
  return Math.min(max, Math.max(min, Math.floor(limit * part)));
}

/** RLIMIT_NOFILE of this process; undefined: unlimited or unknown. */
export function maxDescriptors(): number | undefined {
  try {
    const [, max] = /^Max open files\s+(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return max === undefined ? undefined : Number(max);
  } catch {
    return undefined;
  }
}

let bounds: DescriptorBounds | undefined;
let reportTo: Log | undefined;
const reported = new Set<DescriptorUse>();

/** Reports each kind of shortage of this process once. Threads without a log report nothing. */
export function reportShortage(log: Log): void {
  reportTo = log;
}

/** Whether a descriptor is one of those that its use must leave to others. */
export function isReserved(use: DescriptorUse, fd: number): boolean {
  bounds ??= boundsFor(maxDescriptors());
  if (fd < bounds[use]) return false;
  if (reportTo !== undefined && !reported.has(use)) {
    reported.add(use);
    reportTo.warn(`file descriptors are short: ${CONSEQUENCES[use]}. Raise the limit of open files.`, {
      limit: maxDescriptors() ?? 'unknown',
    });
  }
  return true;
}

/** Open connections of clients that have descriptors reserved for others. */
let excess = 0;

/**
 * Notes an accepted connection. While one of them has a reserved descriptor, further connections fill the gaps below it, so that
 * their own numbers show nothing.
 *
 * @returns whether a connection must be closed for it
 */
export function admitClient(socket: Socket): boolean {
  const fd = findDescriptor(socket);
  if (fd !== undefined && isReserved('client', fd)) {
    excess += 1;
    socket.once('close', () => {
      excess -= 1;
    });
  }
  return excess > 0;
}

const CONSEQUENCES: Readonly<Record<DescriptorUse, string>> = {
  client: 'idle connections of clients are closed early',
  upstream: 'fewer sockets ask upstream servers',
};

/** The descriptor of an open socket. Node has no public function for it, but its handles have always had this field. */
export function findDescriptor(socket: Socket): number | undefined {
  const handle: unknown = '_handle' in socket ? socket._handle : undefined;
  if (typeof handle !== 'object' || handle === null || !('fd' in handle)) return undefined;
  return typeof handle.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined;
}
