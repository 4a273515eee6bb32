/**
 * TLS connections to servers (RFC 8310 section 8.1): the certificate must have the name or address of the server.
 */
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SocketAddress } from '../../socket/addresses.ts';

/** In PEM form. */
export interface TlsCertificates {
  /** Trusted certificates; they replace those of Node. Undefined: those of Node. */
  readonly authorities: readonly string[] | undefined;
  /** Our own certificate and key. Default: none. */
  readonly own?: { readonly certificate: string; readonly key: string } | undefined;
}

export interface TlsTrust {
  /** Those of a connection that begins now. Another object: they have changed. */
  readonly certificates: TlsCertificates;
}

export interface TlsPeer {
  readonly trust: TlsTrust;
  /** The name or address that the certificate must have; undefined: the peer's address. */
  readonly serverName: string | undefined;
}

/** The sessions of a server. */
export interface TlsSessions {
  /** The last one, so that a new connection needs one round trip and no certificate. */
  last: Buffer | undefined;
  /** With which the last one was made. */
  certificates?: TlsCertificates;
}

export type ConnectOptions =
  | { readonly host: string; readonly port: number; readonly localAddress?: string }
  /** A Unix socket. */
  | { readonly path: string };

/** Where to connect, as Node takes it. @param sourceAddress undefined: the system's choice */
export function toConnectOptions({
  peer,
  sourceAddress,
}: {
  readonly peer: SocketAddress;
  readonly sourceAddress: string | undefined;
}): ConnectOptions {
  const source = sourceAddress === undefined ? {} : { localAddress: sourceAddress };
  return { host: peer.address, port: peer.port, ...source };
}

/** The name of a server behind a Unix socket, as in gRPC. */
const LOCAL_HOST = 'localhost';

/** The name or address of a server: what its certificate must have, and what requests name. */
export function nameServer(place: ConnectOptions, serverName: string | undefined): string {
  if (serverName !== undefined) return serverName;
  // An interface of this machine means nothing to the server (RFC 6874 section 4).
  return 'path' in place ? LOCAL_HOST : place.host.replace(/%.*/, '');
}

/** Loaded when first used: most servers are queried without TLS, which takes a megabyte. */
const loadTls = () => process.getBuiltinModule('node:tls');

/** Begins to connect. @param protocols to offer (RFC 7301). Default: none */
export function openTls(
  place: ConnectOptions,
  { serverName, trust: { certificates } }: TlsPeer,
  sessions: TlsSessions,
  protocols: readonly string[] = [],
): TLSSocket {
  const { authorities, own } = certificates;
  // A resumed session would skip the check of the server's certificate.
  if (sessions.certificates !== certificates) sessions.last = undefined;
  sessions.certificates = certificates;
  const expected = nameServer(place, serverName);
  const { checkServerIdentity, connect } = loadTls();
  const socket = connect({
    ...place,
    minVersion: 'TLSv1.2',
    // An address is not a valid server name (RFC 6066 section 3).
    servername: isIP(expected) === 0 ? expected : '',
    checkServerIdentity: (_, certificate) => {
      const error = checkServerIdentity(expected, certificate);
      return error && otherNameError(certificate.subjectaltname ?? '', expected);
    },
    ...(protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] }),
    ...(authorities === undefined ? {} : { ca: [...authorities] }),
    ...(own === undefined ? {} : { cert: own.certificate, key: own.key }),
    ...(sessions.last === undefined ? {} : { session: sessions.last }),
  });
  socket.on('session', (session) => {
    sessions.last = session;
  });
  return socket;
}

/** In the words of CoreDNS's logs that people search for. @param names as Node lists them: `DNS:localhost, IP Address:127.0.0.1` */
function otherNameError(names: string, expected: string): Error {
  const kind = isIP(expected) === 0 ? 'DNS:' : 'IP Address:';
  const valid = names.split(', ').flatMap((name) => (name.startsWith(kind) ? name.slice(kind.length) : []));
  return new Error(
    `tls: failed to verify certificate: x509: certificate is valid for ${valid.join(', ')}, not ${expected}`,
  );
}
