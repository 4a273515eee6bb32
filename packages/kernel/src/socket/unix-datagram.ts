/**
 * A datagram socket to another program of this machine, such as the daemon behind `/dev/log`: Node has no such sockets.
 */
import { closeDescriptor } from './descriptor.ts';
import { batchesAvailable, libc } from './libc.ts';
import { SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK } from './linux.ts';

const AF_UNIX = 1;
/** The longest path in `struct sockaddr_un`, without the final zero. */
const MAX_PATH_OCTETS = 107;

/**
 * Opens a socket whose every `write` is one datagram to `path`. A write that would wait fails with EAGAIN.
 *
 * @returns its descriptor, to close with `closeDescriptor`; undefined if no process listens, or the C library is not available
 */
export function connectUnixDatagram(path: string): number | undefined {
  const octets = Buffer.from(path);
  if (octets.length > MAX_PATH_OCTETS || batchesAvailable() !== true) return undefined;
  const fd = libc().socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return undefined;
  const address = new Uint8Array(2 + octets.length + 1);
  address[0] = AF_UNIX;
  address.set(octets, 2);
  if (libc().connect(fd, address, address.length) === 0) return fd;
  closeDescriptor(fd);
  return undefined;
}
