/**
 * The process at the other end of a Unix socket, as the kernel reports it.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { findDescriptor } from '../base/descriptors.ts';
import { readOption } from './descriptor.ts';
import { batchesAvailable } from './libc.ts';
import { SO_PEERCRED, SOL_SOCKET } from './linux.ts';

/** Of `struct ucred`: process, user and group, 32 bits each. */
const UCRED = { OCTETS: 12, PROCESS: 0, USER: 4 } as const;

export const ROOT = 0;

/** A connected process, or one that listens, when it began to. */
export interface PeerProcess {
  /** 0: it is not visible in our PID namespace. */
  readonly process: number;
  readonly user: number;
}

/** @returns undefined where the system cannot tell */
export function findPeer(socket: Socket): PeerProcess | undefined {
  const fd = findDescriptor(socket);
  if (fd === undefined || batchesAvailable() !== true) return undefined;
  const credentials = readOption(fd, SOL_SOCKET, SO_PEERCRED, UCRED.OCTETS);
  return {
    process: credentials.getInt32(UCRED.PROCESS, true),
    user: credentials.getUint32(UCRED.USER, true),
  };
}

/** The user of the peer; undefined where the system cannot tell. */
export function findPeerUser(socket: Socket): number | undefined {
  return findPeer(socket)?.user;
}

/**
 * Whether a process is in our own PID namespace, and not in one below it, such as a container that runs on our machine. A process has a
 * number in each namespace that it is in; the line `NSpid` has them from that of `/proc` on.
 *
 * @param proc the folder of information about processes
 */
export function isInOwnPidNamespace({ process }: PeerProcess, proc = '/proc'): boolean {
  if (process === 0) return false;
  try {
    const [, numbers = ''] = /^NSpid:\s*(.*)$/m.exec(readFileSync(`${proc}/${process}/status`, 'utf8')) ?? [];
    return numbers.trim() === String(process);
  } catch {
    return false;
  }
}
