/**
 * The errors of opening a socket, with a remedy if possible.
 */
import { formatSocketAddress } from '../base/socket-address.ts';
import { findErrorCode } from '../base/system-errors.ts';
import type { SocketAddress } from './addresses.ts';
import { libc } from './libc.ts';
import { EACCES, EADDRINUSE, EADDRNOTAVAIL, EPERM } from './linux.ts';

export type SocketTransport = 'udp' | 'tcp';

/** Another socket holds the port. */
export class PortInUseError extends Error {
  override readonly name = 'PortInUseError';
  readonly endpoint: SocketAddress;
  readonly transport: SocketTransport;

  /** @param shareable whether joining the port might work */
  constructor(endpoint: SocketAddress, transport: SocketTransport, shareable: boolean) {
    const remedy = shareable
      ? 'stop the server that holds it, or join it with --takeover if it is another Portolan'
      : 'its holder does not share it (another program, or another user); stop that one first';
    super(`port in use: ${formatSocketAddress(endpoint)} (${transport}); ${remedy}`);
    this.endpoint = endpoint;
    this.transport = transport;
  }
}

const PRIVILEGED_PORT =
  'a port below 1024 needs root, the capability NET_BIND_SERVICE, or the sysctl net.ipv4.ip_unprivileged_port_start=0 in the ' +
  'network namespace (in a pod: securityContext.sysctls)';

const REMEDIES = new Map([
  [EACCES, PRIVILEGED_PORT],
  [EPERM, PRIVILEGED_PORT],
  [EADDRNOTAVAIL, 'no interface of this machine has the address'],
]);

/** A system call on a socket failed. */
export class SocketError extends Error {
  override readonly name = 'SocketError';
  /** The system call, `bind`. */
  readonly operation: string;
  readonly endpoint: SocketAddress;
  /** The symbol of the error number, `EACCES`. */
  readonly code: string;

  constructor(operation: string, endpoint: SocketAddress, errno: number) {
    const code = libc().errorName(errno);
    const remedy = REMEDIES.get(errno);
    super(
      `cannot ${operation}: ${formatSocketAddress(endpoint)} (${code})${remedy === undefined ? '' : `; ${remedy}`}`,
    );
    this.operation = operation;
    this.endpoint = endpoint;
    this.code = code;
  }
}

/** The error of a failed `bind` or `listen`. */
export function bindError(
  operation: string,
  endpoint: SocketAddress,
  transport: SocketTransport,
  shareable: boolean,
): Error {
  const errno = libc().errno();
  if (errno === EADDRINUSE) return new PortInUseError(endpoint, transport, shareable);
  return new SocketError(operation, endpoint, errno);
}

/** The same for a socket that Node opened: Node's error, or ours if the port is in use. */
export function nodeBindError(error: unknown, endpoint: SocketAddress, transport: SocketTransport): unknown {
  const isInUse = findErrorCode(error) === 'EADDRINUSE';
  return isInUse ? new PortInUseError(endpoint, transport, false) : error;
}
