/**
 * Ports for HTTP that a process shares with the one that takes over from it, so that one of them always answers there.
 */
import { isIP } from 'node:net';
import { batchesAvailable } from '../socket/libc.ts';
import { PortInUseError, SocketError } from '../socket/socket-error.ts';
import { openTcpListener } from '../socket/tcp-listener.ts';
import type { SharedPort } from './http-server.ts';

/**
 * Opens a listener on a port that others of ours may share.
 *
 * @param address undefined: all addresses, of both families where there are two
 * @returns undefined where ports cannot be shared: for a name in place of an address, or without the C library
 * @throws Error with a `code` as `net.Server.listen` fails with
 */
export function openSharedPort(address: string | undefined, port: number): SharedPort | undefined {
  if (batchesAvailable() !== true || (address !== undefined && isIP(address) === 0)) return undefined;
  try {
    if (address !== undefined) return openTcpListener({ address, port });
    try {
      return openTcpListener({ address: '::', port }, 'both');
    } catch (error) {
      // A kernel without IPv6.
      if (!(error instanceof SocketError) || !NO_IPV6.includes(error.code)) throw error;
      return openTcpListener({ address: '0.0.0.0', port });
    }
  } catch (error) {
    if (error instanceof PortInUseError) throw Object.assign(error, { code: 'EADDRINUSE' });
    throw error;
  }
}

const NO_IPV6: readonly string[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];
