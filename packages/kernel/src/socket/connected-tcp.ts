/**
 * Opens TCP connections without waiting, for a thread that waits only for packets.
 */
import { encodeSocketAddress, type SocketAddress } from './addresses.ts';
import { closeDescriptor, openUpstreamDescriptor, readOption, setOption } from './descriptor.ts';
import { libc } from './libc.ts';
import {
  EINPROGRESS,
  IPPROTO_TCP,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  TCP_ESTABLISHED,
  TCP_INFO,
  TCP_NODELAY,
  TCP_QUICKACK,
  TCP_SYN_SENT,
} from './linux.ts';
import { SocketError } from './socket-error.ts';

/** Of `struct tcp_info`, which begins with the state. */
const TCP_INFO_OCTETS = 8;

/** `ended`: the peer has closed it, or it could not be opened. */
export type ConnectionState = 'opening' | 'open' | 'ended';

/**
 * Starts to open a connection.
 *
 * @returns its descriptor
 * @throws SocketError
 */
export function connectTcp(peer: SocketAddress): number {
  const fd = openUpstreamDescriptor(peer, SOCK_STREAM | SOCK_NONBLOCK);
  setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  const encoded = encodeSocketAddress(peer);
  if (libc().connect(fd, encoded, encoded.length) === 0) return fd;
  const errno = libc().errno();
  if (errno === EINPROGRESS) return fd;
  closeDescriptor(fd);
  throw new SocketError('connect to', peer, errno);
}

/**
 * Has what was received acknowledged at once, for this time: a server that does not set TCP_NODELAY holds its next reply back until then,
 * and the kernel otherwise takes 40 ms.
 */
export function acknowledge(fd: number): void {
  setOption(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
}

export function stateOfConnection(fd: number): ConnectionState {
  switch (readOption(fd, IPPROTO_TCP, TCP_INFO, TCP_INFO_OCTETS).getUint8(0)) {
    case TCP_ESTABLISHED:
      return 'open';
    case TCP_SYN_SENT:
      return 'opening';
    default:
      return 'ended';
  }
}
