/**
 * Network errors, in the words of CoreDNS's logs that people search for.
 */
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { formatSocketAddress } from '../base/socket-address.ts';
import { findMeaning } from '../base/system-errors.ts';
import type { SocketAddress } from '../socket/addresses.ts';

const UNKNOWN_AUTHORITY = 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
/** Node's error codes for a certificate without a trusted authority. */
const NOT_TRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export interface FailedExchange {
  readonly protocol: 'udp' | 'tcp';
  readonly peer: SocketAddress;
  /** Our own end, as `address:port`. */
  readonly local: string;
  /** The system's error code, such as `ECONNREFUSED`; `timeout` if there was no error in time. */
  readonly code: string;
}

/** The reason for a missing reply: `read udp 10.0.0.1:4000->10.0.0.2:53: i/o timeout`. */
export function describeFailure({ protocol, peer, local, code }: FailedExchange): string {
  const server = formatSocketAddress(peer);
  const read = `read ${protocol} ${local}->${server}`;
  if (code === 'timeout') return `${read}: i/o timeout`;
  if (code === 'connection closed') return 'EOF';
  if (NOT_TRUSTED.has(code)) return UNKNOWN_AUTHORITY;
  const meaning = findMeaning(code);
  if (meaning === undefined) return code;
  return protocol === 'tcp' ? `dial tcp ${server}: connect: ${meaning}` : `${read}: read: ${meaning}`;
}

/** The address from which the system reaches a peer, with a port of its choice. */
export function findLocalAddress({ address, port }: SocketAddress): Promise<string> {
  const isVersion6 = isIPv6(address);
  const unknown = isVersion6 ? '[::]:0' : '0.0.0.0:0';
  return new Promise((resolve) => {
    const socket = createSocket(isVersion6 ? 'udp6' : 'udp4');
    const end = (found: string) => {
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.close();
      resolve(found);
    };
    socket.once('error', () => end(unknown));
    socket.connect(port, address, () => end(formatSocketAddress(socket.address())));
  });
}
