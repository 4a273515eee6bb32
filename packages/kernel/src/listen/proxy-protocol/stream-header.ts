/**
 * The header of the PROXY protocol that a connection may begin with, whatever the protocol behind it.
 */
import type { Socket } from 'node:net';
import { NO_HEADER, type ProxyHeaderReader } from './proxy-header.ts';

/** `none`: the connection begins with its protocol. `closed`: the client has closed it. */
export type StreamHeader = 'read' | 'none' | 'malformed' | 'closed';

/**
 * Reads the header, however many pieces it comes in; what is behind it stays in the socket. The caller limits the time.
 *
 * @param header filled if the result is `read`
 * @param onHeader called once, unless the socket is destroyed before
 */
export function readStreamHeader(
  socket: Socket,
  header: ProxyHeaderReader,
  onHeader: (result: StreamHeader) => void,
): void {
  // A header and one read of the socket at most: it is longer than that only if it is malformed.
  let held = Buffer.alloc(0);
  const finish = (result: StreamHeader, length: number): void => {
    socket.off('readable', read);
    socket.off('end', end);
    if (length < held.length) socket.unshift(held.subarray(length));
    onHeader(result);
  };
  const end = (): void => finish('closed', held.length);
  const read = (): void => {
    for (let piece = socket.read(); piece instanceof Buffer; piece = socket.read())
      held = Buffer.concat([held, piece]);
    if (held.length === 0) return;
    const length = header.read(held, 0, held.length);
    if (length > 0) finish('read', length);
    else if (length === NO_HEADER.NONE) finish('none', 0);
    else if (length === NO_HEADER.MALFORMED) finish('malformed', held.length);
  };
  socket.on('readable', read);
  socket.on('end', end);
}
