/**
 * TCP listeners that share a port: Node 20 has no option for it, but accepts a bound descriptor.
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
 * For each accepted connection, which inherits it: two of the longest messages. Otherwise, for a client that does not
 * read its answers, the kernel would let it grow to megabytes, which count towards our memory limit.
 */
const SEND_BUFFER_OCTETS = 128 * 1024;
const TCP_INFO_OCTETS = 104;
/** `tcpi_unacked`: for a listener, the number of connections not yet accepted. */
const TCP_INFO_UNACCEPTED = 24;

/**
 * Checks that no other process listens on the port.
 *
 * @throws PortInUseError if one does; SocketError if the address cannot be bound at all
 */
export function probeTcpPort(endpoint: SocketAddress): void {
  closeDescriptor(bindDescriptor(openTcpDescriptor(endpoint), endpoint, 'tcp', 'alone').fd);
}

/**
 * Opens a listener whose port other sockets of this process share. Pass it to `net.Server.listen({ fd })`, which then owns the descriptor.
 *
 * @param families whether an IPv6 address also accepts IPv4 connections, which only `::` can
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
  // Otherwise connections closed within the last minute would block the port.
  setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  return fd;
}

/** The number of established connections that are not accepted yet: closing the listener would reset them. */
export function countUnaccepted(fd: number): number {
  return readOption(fd, IPPROTO_TCP, TCP_INFO, TCP_INFO_OCTETS).getUint32(TCP_INFO_UNACCEPTED, true);
}
