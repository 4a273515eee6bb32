/**
 * Opens the servers of a rule: by address, by a name that is looked up once, or from a file like resolv.conf.
 */

import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { RateLimitedWarnings } from '../../base/rate-limited-warning.ts';
import { formatSocketAddress } from '../../forward/network-errors.ts';
import { readTlsPeer } from '../../forward/read-tls-peer.ts';
import { parseResolvConf } from '../../forward/resolv-conf.ts';
import { HttpsTransport } from '../../forward/transport/https-transport.ts';
import { PlainTransport } from '../../forward/transport/plain-transport.ts';
import { StreamTransport, type TlsPeer } from '../../forward/transport/stream-transport.ts';
import { TcpFirstTransport } from '../../forward/transport/tcp-first-transport.ts';
import type { Transport } from '../../forward/transport/transport.ts';
import { UdpTransport } from '../../forward/transport/udp-transport.ts';
import { CountedTransport } from './counted-transport.ts';
import type { ServerEvents } from './forward-metrics.ts';
import type { ForwardDirective, ForwardScheme, ForwardUpstream } from './options.ts';

/** A server of a rule cannot be used. The start fails with the message. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

/** A server of a rule, by its address. */
export type UpstreamPlace = Extract<ForwardUpstream, { kind: 'address' }> & {
  /** The name that it was looked up by. */
  readonly host?: string;
};

export type ServerProtocol = 'udp' | 'tcp';

/** Encrypted transports are the same for both protocols. */
export type OpenTransports = (
  place: UpstreamPlace,
  rule: ForwardDirective,
  clock: Clock,
) => Readonly<Record<ServerProtocol, Transport>>;

export interface OpenServerOptions {
  readonly clock: Clock;
  readonly counts: Pick<ServerEvents, 'asked' | 'replied'>;
  /** Called when a server is asked over another protocol from now on. */
  readonly onSwitch: () => void;
  /** Default: by sockets. */
  readonly openTransports?: OpenTransports | undefined;
  readonly tap?: TapServer | undefined;
  readonly log: Log;
}

export interface FindServersOptions {
  /** Whether a server from a file is this one, so that it is left out. Default: always false. */
  readonly isOurselves?: IsOurselves | undefined;
  readonly log: Log;
}

/** Wraps the transport to a server, to show what it carries. */
export type TapServer = (
  transport: Transport,
  place: Pick<UpstreamPlace, 'address' | 'port'>,
  protocol: ServerProtocol,
) => Transport;

export type IsOurselves = (address: string, port: number) => boolean;

/** Maximum octets of a reply over UDP; a larger reply counts as truncated. */
const MAX_UDP_REPLY = 4096;

/** The servers of a rule. @throws UpstreamError if a name has no address */
export async function findServers(
  rule: ForwardDirective,
  { isOurselves = () => false, log }: FindServersOptions,
): Promise<readonly UpstreamPlace[]> {
  const found = await Promise.all(
    rule.upstreams.map(async (upstream) => {
      const places = await findPlaces(upstream, rule);
      return upstream.kind === 'file' ? withoutOurselves(upstream.path, places, isOurselves, log) : places;
    }),
  );
  return found.flat();
}

/** The transport to a server, with all that a rule says about it. */
export function openServer(
  place: UpstreamPlace,
  rule: ForwardDirective,
  { clock, counts, openTransports, tap, log, onSwitch }: OpenServerOptions,
): Transport {
  const server = formatSocketAddress(place);
  const wrap = (transport: Transport, protocol: ServerProtocol) =>
    tap?.(transport, place, protocol) ?? transport;
  const counted = (transport: Transport, protocol: ServerProtocol) =>
    new CountedTransport(transport, { server, protocol, expire: rule.expire, counts, clock });
  const { udp, tcp } = (openTransports ?? openSockets)(place, rule, clock);
  const stream = wrap(tcp, 'tcp');
  if (place.scheme !== 'dns') return counted(stream, 'tcp');
  const datagrams = wrap(udp, 'udp');
  if (!rule.forceTcp) {
    // Readers cannot be tapped, and have no sockets but those of the system.
    const isDirect = rule.sourceAddress === undefined && tap === undefined && openTransports === undefined;
    const peer = { address: place.address, port: place.port };
    const [byUdp, byTcp] = [counted(datagrams, 'udp'), counted(stream, 'tcp')];
    return new PlainTransport(byUdp, byTcp, clock, isDirect ? peer : undefined);
  }
  if (rule.streams?.fallsBackToUdp !== true) {
    udp.close();
    return counted(stream, 'tcp');
  }
  const warnings = new RateLimitedWarnings(log, clock);
  const changed = (protocol: ServerProtocol) => {
    onSwitch();
    if (protocol === 'udp')
      warnings.warn(`plugin/forward: ${server} does not answer over TCP: asking it over UDP`);
    else warnings.warn(`plugin/forward: ${server} answers over TCP again`);
  };
  return counted(new TcpFirstTransport({ tcp: stream, udp: datagrams, clock, onSwitch: changed }), 'tcp');
}

async function findPlaces(
  upstream: ForwardUpstream,
  rule: ForwardDirective,
): Promise<readonly UpstreamPlace[]> {
  switch (upstream.kind) {
    case 'address':
      return [upstream];
    case 'file':
      return readPlaces(upstream.path);
    case 'name': {
      const { scheme, name, port, serverName } = upstream;
      const addresses = await lookUp(name, rule.resolvers);
      return addresses.map((address) => ({ kind: 'address', scheme, address, port, serverName, host: name }));
    }
  }
}

function readPlaces(path: string): readonly UpstreamPlace[] {
  const { servers } = parseResolvConf(readFileSync(path, 'utf8'));
  return servers.flatMap(({ host, port }) =>
    host.kind === 'address'
      ? [{ kind: 'address', scheme: 'dns', address: host.address, port, serverName: undefined }]
      : [],
  );
}

/** A file that lists this server comes from a machine that asks itself, through us or through systemd-resolved. */
function withoutOurselves(
  path: string,
  places: readonly UpstreamPlace[],
  isOurselves: IsOurselves,
  log: Log,
): readonly UpstreamPlace[] {
  const own = places.filter(({ address, port }) => isLoopback(address) && isOurselves(address, port));
  if (own.length === 0) return places;
  const rest = places.filter((place) => !own.includes(place));
  const behind = rest.length === 0 ? readBehindStub() : [];
  const names = own.map(({ address }) => address).join(', ');
  const taken = behind.length > 0 ? `those of ${BEHIND_STUB} are asked` : `${rest.length} others are asked`;
  log.warn(
    `plugin/forward: ${path} names ${names}, which is this server: it is left out, ${taken}. Name the servers of the network.`,
  );
  return [...rest, ...behind];
}

/** The list of upstream servers that systemd-resolved writes. */
const BEHIND_STUB = '/run/systemd/resolve/resolv.conf';

function readBehindStub(): readonly UpstreamPlace[] {
  try {
    return readPlaces(BEHIND_STUB).filter(({ address }) => !isLoopback(address));
  } catch {
    return [];
  }
}

/** Excludes the address of Docker's own resolver: it always leads to another process. */
function isLoopback(address: string): boolean {
  return (address.startsWith('127.') && address !== '127.0.0.11') || address === '::1';
}

/** Milliseconds for each attempt of a look-up. */
const LOOK_UP_TIMEOUT = 5000;

async function lookUp(name: string, resolvers: readonly string[]): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: LOOK_UP_TIMEOUT, tries: 1 });
  if (resolvers.length > 0) resolver.setServers([...resolvers]);
  const found = await Promise.all([
    resolver.resolve4(name).catch(() => []),
    resolver.resolve6(name).catch(() => []),
  ]);
  const addresses = found.flat();
  if (addresses.length > 0) return addresses;
  const quoted = JSON.stringify(name);
  throw new UpstreamError(`plugin/forward: failed to resolve ${quoted}: no addresses found for ${quoted}`);
}

const openSockets: OpenTransports = (place, rule, clock) => {
  const { sourceAddress, expire: idle, maxAge, maxIdleConnections, streams } = rule;
  const peer = { address: place.address, port: place.port };
  if (place.scheme === 'https') {
    const transport = new HttpsTransport({
      peer,
      tls: tlsOf(place, rule),
      method: rule.dohMethod,
      sourceAddress,
    });
    return { udp: transport, tcp: transport };
  }
  const stream = (scheme: ForwardScheme) =>
    new StreamTransport({
      ...{ peer, sourceAddress, idle, clock },
      ...(maxAge > 0 && { maxAge }),
      ...(maxIdleConnections > 0 && { maxConnections: maxIdleConnections }),
      minConnections: streams?.minConnections ?? 1,
      tls: scheme === 'tls' ? tlsOf(place, rule) : undefined,
    });
  if (place.scheme === 'tls') {
    const transport = stream('tls');
    return { udp: transport, tcp: transport };
  }
  const udp = new UdpTransport({
    ...{
      peer,
      sourceAddress,
      sourcePorts: { kind: 'any' },
      udpSize: MAX_UDP_REPLY,
      ignoredAddresses: [],
      mixesCase: false,
      clock,
    },
  });
  return { udp, tcp: stream('dns') };
};

function tlsOf({ serverName, host }: UpstreamPlace, { tls }: ForwardDirective): TlsPeer {
  return readTlsPeer(serverName ?? tls.serverName ?? host, tls);
}
