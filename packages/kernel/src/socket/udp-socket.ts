/**
 * UDP sockets that share a port, one for each reader.
 *
 * The kernel spreads clients over all sockets of a port. A second program that shared the port by accident would take
 * part of the queries, so we first try to bind the port exclusively.
 */
import { encodeSocketAddress, isWildcard, type SocketAddress, toAddressFamily } from './addresses.ts';
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
  AF_INET6,
  IP_PKTINFO,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPV6_RECVPKTINFO,
  SO_MEMINFO,
  SO_RCVBUF,
  SO_RCVTIMEO,
  SO_REUSEPORT,
  SOCK_DGRAM,
  SOL_SOCKET,
} from './linux.ts';

/** Requested size; the kernel caps it at `net.core.rmem_max`, which also limits a pod without privileges. */
const RECEIVE_BUFFER_OCTETS = 4 * 2 ** 20;
const MEMINFO_OCTETS = 36;
const MEMINFO_USED = 0;
const MEMINFO_ROOM = 4;
const MEMINFO_DROPS = 32;
/** Room for some 300 packets, more than honest clients send at once. */
const SMALL_OCTETS = 256 * 1024;

/**
 * Checks that no other process holds the port.
 *
 * @throws PortInUseError if one does; SocketError if the address cannot be bound at all
 */
export function probeUdpPort(endpoint: SocketAddress): void {
  const fd = openDescriptor(endpoint, SOCK_DGRAM);
  closeDescriptor(bindDescriptor(fd, endpoint, 'udp', 'alone').fd);
}

/**
 * Opens a socket whose port other sockets of this process share.
 *
 * On a wildcard address, the kernel reports the destination of each packet, so that the answer comes from there.
 *
 * @param waitMilliseconds how long a receive call blocks at most, from 1
 * @throws PortInUseError if the port's holder does not share it; SocketError
 */
export function openUdpSocket(endpoint: SocketAddress, waitMilliseconds: number): BoundSocket {
  const fd = openDescriptor(endpoint, SOCK_DGRAM);
  setOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  setOption(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_OCTETS);
  setReceiveTimeout(fd, waitMilliseconds);
  if (isWildcard(endpoint.address)) {
    if (toAddressFamily(endpoint.address) === AF_INET6) setOption(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    else setOption(fd, IPPROTO_IP, IP_PKTINFO, 1);
  }
  return bindDescriptor(fd, endpoint, 'udp', 'shared');
}

function setReceiveTimeout(fd: number, milliseconds: number): void {
  const seconds = Math.floor(milliseconds / 1000);
  const timeval = BigInt64Array.of(BigInt(seconds), BigInt(milliseconds - seconds * 1000) * 1000n);
  libc().setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, new Uint8Array(timeval.buffer), 16);
}

/**
 * Takes a socket out of the group that shares its port, so that the kernel gives new queries to the others: a connected
 * socket accepts packets only from its peer. Queued packets stay, and can still be received and answered.
 *
 * The peer is a port of this process that never sends queries.
 */
export function leavePortGroup({ fd, endpoint }: BoundSocket): void {
  const loopback = endpoint.address.includes(':') ? '::1' : '127.0.0.1';
  const peer = encodeSocketAddress({
    address: isWildcard(endpoint.address) ? loopback : endpoint.address,
    port: 1,
  });
  libc().connect(fd, peer, peer.length);
}

/**
 * Brings a socket back into the group that shares its port. The kernel cannot do that with the same socket, so a new
 * one takes its descriptor. This loses queued packets, and no thread may be receiving by the descriptor.
 *
 * @param waitMilliseconds as for `openUdpSocket`
 * @throws PortInUseError, SocketError; then the descriptor can neither receive nor send
 */
export function rejoinPortGroup({ fd, endpoint }: BoundSocket, waitMilliseconds: number): void {
  // The old socket must be gone first: beside it, an IPv6 socket would form a separate group.
  const stopgap = openDescriptor(endpoint, SOCK_DGRAM);
  libc().dup2(stopgap, fd);
  closeDescriptor(stopgap);
  const fresh = openUdpSocket(endpoint, waitMilliseconds);
  libc().dup2(fresh.fd, fd);
  closeDescriptor(fresh.fd);
}

/**
 * Whether a socket's receive buffer is filling up, so that the kernel may soon drop packets of any client: an eighth of
 * it is used, or half of a small one.
 */
export function isFillingUp(fd: number): boolean {
  const memory = readOption(fd, SOL_SOCKET, SO_MEMINFO, MEMINFO_OCTETS);
  const room = memory.getUint32(MEMINFO_ROOM, true);
  return memory.getUint32(MEMINFO_USED, true) > Math.max(room / 8, Math.min(room / 2, SMALL_OCTETS));
}

/** How many packets the kernel has dropped since the socket was opened because its queue was full. */
export function countKernelDrops(fd: number): number {
  return readOption(fd, SOL_SOCKET, SO_MEMINFO, MEMINFO_OCTETS).getUint32(MEMINFO_DROPS, true);
}
