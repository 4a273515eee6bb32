/**
 * The user at the other end of a Unix socket.
 */
import type { Socket } from 'node:net';
import { descriptorOf } from '../base/descriptors.ts';
import { readOption } from './descriptor.ts';
import { batchesAvailable } from './libc.ts';
import { SO_PEERCRED, SOL_SOCKET } from './linux.ts';

/** Of `struct ucred`: process, user and group, 32 bits each. */
const UCRED_OCTETS = 12;
const USER = 4;

/** The user of the connected or listening process; undefined where the system cannot tell. */
export function peerUserOf(socket: Socket): number | undefined {
  const fd = descriptorOf(socket);
  if (fd === undefined || batchesAvailable() !== true) return undefined;
  return readOption(fd, SOL_SOCKET, SO_PEERCRED, UCRED_OCTETS).getUint32(USER, true);
}
