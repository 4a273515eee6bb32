/**
 * HTTP ports that a process shares with its successor, so that one of them always answers.
 */
import { isIP } from 'node:net';
import { batchesAvailable } from '@portolan/kernel/socket/libc.ts';
import { PortInUseError, SocketError } from '@portolan/kernel/socket/socket-error.ts';
import { openTcpListener } from '@portolan/kernel/socket/tcp-listener.ts';
import type { SharedPort } from './http-server.ts';

/**
 * Opens a listener on a port that other Portolan processes may share.
 *
 * @param address undefined: all addresses of all families of the machine
 * @returns undefined if ports cannot be shared: for a host name, or without the C library
 * @throws Error with a `code` as from `net.Server.listen`
 */
export function openSharedPort(address: string | undefined, port: number): SharedPort | undefined {
  if (batchesAvailable() !== true || (address !== undefined && isIP(address) === 0)) return undefined;
  try {
    if (address !== undefined) return openTcpListener({ address, port });
    try {
      return openTcpListener({ address: '::', port }, 'both');
    } catch (error) {
      // The kernel lacks IPv6.
      if (!(error instanceof SocketError) || !NO_IPV6.includes(error.code)) throw error;
      return openTcpListener({ address: '0.0.0.0', port });
    }
  } catch (error) {
    if (error instanceof PortInUseError) throw Object.assign(error, { code: 'EADDRINUSE' });
    throw error;
  }
}

const NO_IPV6: readonly string[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];
