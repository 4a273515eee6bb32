/**
 * TCP listeners that share a port: Node 20 has no option for it, but takes a descriptor that is bound already.
 */
import type { SocketAddress } from './addresses.ts';
import {
  type BoundSocket,
  bindDescriptor,
  closeDescriptor,
  openDescriptor,
  readOption,
  setOption,
} from './descriptor.ts';
import { libc } from './libc.ts';
import {
  IPPROTO_IPV6,
  IPPROTO_TCP,
  IPV6_V6ONLY,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SO_SNDBUF,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  TCP_INFO,
} from './linux.ts';
import { bindError } from './socket-error.ts';

const BACKLOG = 511;
/**
 * Of each accepted connection, which inherits it: two of the longest messages. The kernel would let it grow to megabytes for
 * a client that takes no answers, on the account of our memory limit.
 */
const SEND_BUFFER_OCTETS = 128 * 1024;
const TCP_INFO_OCTETS = 104;
/** `tcpi_unacked`, which for a listener is the number of connections not yet accepted. */
const TCP_INFO_UNACCEPTED = 24;

/**
 * Makes sure that no other process listens on the port.
 *
 * @throws PortInUseError if one does; SocketError if the address cannot be bound at all
 */
export function probeTcpPort(endpoint: SocketAddress): void {
  closeDescriptor(bindDescriptor(openTcpDescriptor(endpoint), endpoint, 'tcp', 'alone').fd);
}

/**
 * Opens a listener whose port others of ours share, for `net.Server.listen({ fd })`, which then owns the descriptor.
 *
 * @param families whether an IPv6 address takes connections over IPv4 too, which `::` can
 * @throws PortInUseError if the port's holder does not share it; SocketError
 */
export function openTcpListener(endpoint: SocketAddress, families: 'own' | 'both' = 'own'): BoundSocket {
  const fd = openTcpDescriptor(endpoint);
  if (families === 'both') setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  setOption(fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_OCTETS);
  const bound = bindDescriptor(fd, endpoint, 'tcp', 'shared');
  if (libc().listen(fd, BACKLOG) === 0) return bound;
  const error = bindError('listen on', endpoint, 'tcp', false);
  closeDescriptor(fd);
  throw error;
}

function openTcpDescriptor(endpoint: SocketAddress): number {
  const fd = openDescriptor(endpoint, SOCK_STREAM | SOCK_NONBLOCK);
  // Without it, connections that closed a minute ago would hold the port.
  setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  return fd;
}

/** Connections that clients have made and that are not accepted yet: those that closing the listener would cut. */
export function countUnaccepted(fd: number): number {
  return readOption(fd, IPPROTO_TCP, TCP_INFO, TCP_INFO_OCTETS).getUint32(TCP_INFO_UNACCEPTED, true);
}
