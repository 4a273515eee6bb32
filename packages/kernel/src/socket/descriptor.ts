/**
 * The common part of UDP and TCP sockets: a descriptor with options and a bound address.
 */
import { isReserved } from '../base/descriptors.ts';
import {
  decodeSocketAddress,
  encodeSocketAddress,
  type SocketAddress,
  toAddressFamily,
} from './addresses.ts';
import { libc } from './libc.ts';
import { AF_INET6, EMFILE, IPPROTO_IPV6, IPV6_V6ONLY, SOCK_CLOEXEC } from './linux.ts';
import { bindError, SocketError, type SocketTransport } from './socket-error.ts';

/** Whether a socket holds its port exclusively, or with every other socket that the same user binds as `shared`. */
export type Sharing = 'alone' | 'shared';

/** A bound socket of this process. The code that opened it closes it. */
export interface BoundSocket {
  readonly fd: number;
  /** The address that it is bound to, with the port that the kernel picked for port 0. */
  readonly endpoint: SocketAddress;
}

/** @throws SocketError if the kernel refuses */
export function openDescriptor(endpoint: SocketAddress, type: number): number {
  const family = toAddressFamily(endpoint.address);
  const fd = libc().socket(family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) throw new SocketError('open a socket for', endpoint, libc().errno());
  // IPv4 and IPv6 have separate sockets, so that addresses never appear in the other family's form.
  if (family === AF_INET6) setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  return fd;
}

/** Opens a socket to an upstream server. @throws SocketError if the kernel refuses, or the descriptor is reserved for files */
export function openUpstreamDescriptor(peer: SocketAddress, type: number): number {
  const fd = openDescriptor(peer, type);
  if (!isReserved('upstream', fd)) return fd;
  closeDescriptor(fd);
  throw new SocketError('open a socket for', peer, EMFILE);
}

/** Sets an `int` option; if the kernel refuses, the option is unchanged. */
export function setOption(fd: number, level: number, option: number, value: number): void {
  libc().setsockopt(fd, level, option, new Uint8Array(Int32Array.of(value).buffer), 4);
}

/** Reads an option that is a structure. Octets that the kernel leaves unset are zero. */
export function readOption(fd: number, level: number, option: number, octets: number): DataView {
  const value = new Uint8Array(octets);
  libc().getsockopt(fd, level, option, value, Uint32Array.of(octets));
  return new DataView(value.buffer);
}

/**
 * Binds a descriptor, and reads back the address.
 *
 * @throws PortInUseError, SocketError (and closes the descriptor)
 */
export function bindDescriptor(
  fd: number,
  endpoint: SocketAddress,
  transport: SocketTransport,
  sharing: Sharing,
): BoundSocket {
  const encoded = encodeSocketAddress(endpoint);
  if (libc().bind(fd, encoded, encoded.length) !== 0) {
    const error = bindError('bind', endpoint, transport, sharing === 'alone');
    closeDescriptor(fd);
    throw error;
  }
  const bound = new Uint8Array(encoded.length);
  libc().getsockname(fd, bound, Uint32Array.of(bound.length));
  return { fd, endpoint: { address: endpoint.address, port: decodeSocketAddress(bound).port } };
}

export function closeDescriptor(fd: number): void {
  libc().close(fd);
}
