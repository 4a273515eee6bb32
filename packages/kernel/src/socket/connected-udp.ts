/**
 * UDP sockets connected to one peer: the kernel accepts packets only from its address and port, and keeps those that
 * the network refused.
 */
import { encodeSocketAddress, type SocketAddress } from './addresses.ts';
import { bindDescriptor, closeDescriptor, openUpstreamDescriptor, setOption } from './descriptor.ts';
import { libc } from './libc.ts';
import {
  IP_RECVERR,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPV6_RECVERR,
  SO_RCVBUF,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOL_SOCKET,
} from './linux.ts';
import { SocketError } from './socket-error.ts';

export interface ConnectedUdpOptions {
  readonly peer: SocketAddress;
  /** Source of the packets. Undefined: any address and port; port 0: any port. */
  readonly source: SocketAddress | undefined;
  /** Whether other sockets of this process may be bound to the source's port. */
  readonly shared: boolean;
}

/** Requested size; the kernel caps it at `net.core.rmem_max`. Many replies may come at once. */
const RECEIVE_BUFFER_OCTETS = 2 ** 20;

/**
 * Opens a non-blocking socket.
 *
 * @returns its descriptor
 * @throws SocketError, PortInUseError, AddressError
 */
export function connectUdp({ peer, source, shared }: ConnectedUdpOptions): number {
  const fd = openUpstreamDescriptor(peer, SOCK_DGRAM | SOCK_NONBLOCK);
  setOption(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_OCTETS);
  if (peer.address.includes(':')) setOption(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
  else setOption(fd, IPPROTO_IP, IP_RECVERR, 1);
  if (shared) {
    setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  }
  if (source !== undefined) bindDescriptor(fd, source, 'udp', shared ? 'shared' : 'alone');
  const encoded = encodeSocketAddress(peer);
  if (libc().connect(fd, encoded, encoded.length) === 0) return fd;
  const error = new SocketError('connect to', peer, libc().errno());
  closeDescriptor(fd);
  throw error;
}
