/**
 * Finds and opens the servers of a route: by address, by a name that is looked up once, or from a file like resolv.conf.
 */
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { type Connect, connectBySockets } from '@portolan/kernel/forward/connect.ts';
import { parseResolvConf } from '@portolan/kernel/forward/resolv-conf.ts';
import type { Transport, TransportProtocol } from '@portolan/kernel/forward/transport/transport.ts';
import { CountedTransport } from './counted-transport.ts';
import type { ServerEvents } from './forward-metrics.ts';
import type { ForwardRoute, ForwardUpstream, ServerSources } from './options.ts';

/** A server of a route cannot be used. The start fails with the message. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

/** A server that was found, by its address. */
export type UpstreamPlace = Extract<ForwardUpstream, { kind: 'address' }> & {
  /** The name that it was looked up by. */
  readonly host?: string;
};

export interface OpenServerOptions {
  readonly place: UpstreamPlace;
  readonly route: ForwardRoute;
  readonly counts: Pick<ServerEvents, 'asked' | 'replied'>;
  readonly tap?: TapServer | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when a server is asked over another protocol from now on. */
  readonly onSwitch: () => void;
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
  protocol: TransportProtocol,
) => Transport;

export type IsOurselves = (address: string, port: number) => boolean;

/** @throws UpstreamError if a name has no address */
export async function findServers(
  sources: ServerSources,
  { isOurselves = () => false, log }: FindServersOptions,
): Promise<readonly UpstreamPlace[]> {
  const found = await Promise.all(
    sources.upstreams.map(async (upstream) => {
      const places = await findPlaces(upstream, sources);
      return upstream.kind === 'file' ? withoutOurselves(upstream.path, places, isOurselves, log) : places;
    }),
  );
  return found.flat();
}

/** The transport to a server, counted and shown. */
export function openServer(
  { place, route, counts, tap, clock, log, onSwitch }: OpenServerOptions,
  ...[address, ...terms]: Parameters<Connect>
): Transport {
  const server = formatSocketAddress(place);
  const { plan, sources } = route;
  const expire = plan.streams?.idle ?? Number.POSITIVE_INFINITY;
  const warnings = new RateLimitedWarnings(log, clock);
  const show = (transport: Transport, protocol: TransportProtocol) =>
    tap?.(transport, place, protocol) ?? transport;
  const count = (transport: Transport, protocol: TransportProtocol) =>
    new CountedTransport(transport, { server, protocol, expire, counts, clock });
  // A query counts once, though it may go over both protocols.
  const countsWhole = address.transport === 'tcp' && plan.fallsBackToUdp === true;
  const opened = connectBySockets({ ...address, serverName: chooseServerName(place, sources) }, ...terms, {
    wrap: (transport, protocol) =>
      countsWhole ? show(transport, protocol) : count(show(transport, protocol), protocol),
    onSwitch(protocol) {
      onSwitch();
      if (protocol === 'udp')
        warnings.warn(`plugin/forward: ${server} does not answer over TCP: asking it over UDP`);
      else warnings.warn(`plugin/forward: ${server} answers over TCP again`);
    },
  });
  return countsWhole ? count(opened, 'tcp') : opened;
}

/** Logs and metrics do not show it, because it need not be a part of the address. */
function chooseServerName(
  { serverName, host }: UpstreamPlace,
  sources: ServerSources | undefined,
): string | undefined {
  return serverName ?? sources?.tls.serverName ?? host;
}

async function findPlaces(
  upstream: ForwardUpstream,
  { resolvers }: ServerSources,
): Promise<readonly UpstreamPlace[]> {
  switch (upstream.kind) {
    case 'address':
      return [upstream];
    case 'file':
      return readPlaces(upstream.path);
    case 'name': {
      const { scheme, name, port, serverName } = upstream;
      const addresses = await lookUp(name, resolvers);
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
