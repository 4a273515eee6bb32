/**
 * The port of a service that `https://SERVICE/` means.
 */
import type { AppProtocol } from '../objects/objects.ts';

export const HTTPS_PORT = 443;
const HTTP_PORT = 80;

interface NumberedPort {
  readonly port: number;
  readonly appProtocol?: AppProtocol;
}

/** A port, or why the service has none. */
export type OwnPort<Port> =
  | { readonly kind: 'found'; readonly port: Port }
  | { readonly kind: 'no-tls-port' | 'plain-port' | 'several-ports' };

/**
 * 443, else the only one with TLS. None if `http://SERVICE/` or `https://SERVICE/` may mean a port without: a client that finds a record
 * uses TLS for both (RFC 9460 section 9.5).
 *
 * @param tcp the TCP ports of the service
 */
export function findOwnPort<Port extends NumberedPort>(tcp: readonly Port[]): OwnPort<Port> {
  const secure = tcp.filter(isHttps);
  const [first] = secure;
  if (first === undefined) return { kind: 'no-tls-port' };
  if (tcp.some((port) => !isHttps(port) && mayBePlain(port))) return { kind: 'plain-port' };
  const own = secure.find(({ port }) => port === HTTPS_PORT) ?? (secure.length === 1 ? first : undefined);
  return own === undefined ? { kind: 'several-ports' } : { kind: 'found', port: own };
}

export const isHttps = ({ appProtocol }: Pick<NumberedPort, 'appProtocol'>): boolean =>
  appProtocol?.kind === 'https';

const mayBePlain = ({ port, appProtocol }: NumberedPort): boolean =>
  port === HTTP_PORT || port === HTTPS_PORT || appProtocol?.kind === 'plain';
