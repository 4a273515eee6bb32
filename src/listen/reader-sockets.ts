/**
 * Opens the sockets of readers: one for each address and reader; those of one address share a port.
 */
import type { SocketAddress } from '../socket/addresses.ts';
import { type BoundSocket, closeDescriptor } from '../socket/descriptor.ts';
import { openUdpSocket, probeUdpPort } from '../socket/udp-socket.ts';
import { WAIT_MILLISECONDS } from './reader-loop.ts';

/**
 * Opens the sockets of `readers` readers; on failure, closes all again.
 *
 * @param endpoints that the readers serve; port 0 picks a free one
 * @param takeover join ports that another process may serve, instead of checking that they are free
 * @throws PortInUseError, SocketError, AddressError
 */
export function openReaderSockets(
  endpoints: readonly SocketAddress[],
  readers: number,
  takeover: boolean,
): readonly (readonly BoundSocket[])[] {
  const opened: BoundSocket[][] = Array.from({ length: readers }, () => []);
  try {
    for (const wanted of endpoints) {
      if (!takeover && wanted.port !== 0) probeUdpPort(wanted);
      let endpoint = wanted;
      for (const sockets of opened) {
        const socket = openUdpSocket(endpoint, WAIT_MILLISECONDS);
        sockets.push(socket);
        endpoint = socket.endpoint;
      }
    }
    return opened;
  } catch (error) {
    for (const { fd } of opened.flat()) closeDescriptor(fd);
    throw error;
  }
}
