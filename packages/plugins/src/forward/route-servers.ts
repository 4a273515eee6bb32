/**
 * The servers of a route: those of its plan, or those that its sources have when it starts.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { MAX_SEPARATE, profileOfCoreDns } from '@portolan/kernel/forward/coredns-profile.ts';
import { defaultRule, type ForwardPlan, listServers } from '@portolan/kernel/forward/forward-plan.ts';
import { TlsTrustFiles } from '@portolan/kernel/forward/tls-trust-files.ts';
import type { TransportProtocol } from '@portolan/kernel/forward/transport/transport.ts';
import { formatUpstream, type UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { findServers, type IsOurselves, type UpstreamPlace } from './open-upstreams.ts';
import type { ForwardRoute, ForwardUpstream, ServerSources } from './options.ts';

export interface FindRouteServersOptions {
  /** The deviations in which servers are asked as by CoreDNS. */
  readonly restored: RestoredDeviations;
  /** Whether a server from a file is this one, so that it is left out. Default: always false. */
  readonly isOurselves?: IsOurselves | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface RouteServers {
  /** With the servers. */
  readonly plan: ForwardPlan;
  /** Servers that were found, by their addresses in the form of `Forwarder`. */
  readonly places: ReadonlyMap<string, CountedServer>;
}

/** A server as it is asked and counted. */
export interface CountedServer {
  readonly place: UpstreamPlace;
  /** In metrics: its address and port. */
  readonly label: string;
  readonly protocol: TransportProtocol;
}

const ATTEMPTS_PER_SERVER = 2;
const NO_PLACES: RouteServers['places'] = new Map();

/** At once if the plan has them. @throws UpstreamError if a server has no address */
export function findRouteServers(
  { plan, sources }: ForwardRoute,
  options: FindRouteServersOptions,
): RouteServers | Promise<RouteServers> {
  return sources === undefined ? { plan, places: NO_PLACES } : findFromSources(plan, sources, options);
}

async function findFromSources(
  plan: ForwardPlan,
  sources: ServerSources,
  { restored, isOurselves, clock, log }: FindRouteServersOptions,
): Promise<RouteServers> {
  const found = await findServers(sources, { isOurselves, log });
  const servers = found.map((place) => [toUpstreamAddress(place, sources), place] as const);
  const isEncrypted = found.some(({ scheme }) => scheme !== 'dns');
  const whole: ForwardPlan = {
    ...plan,
    rules: [defaultRule(servers.map(([address]) => address))],
    ...(isEncrypted && { tls: new TlsTrustFiles(sources.tls, { clock, log }) }),
  };
  return {
    plan: restore(whole, servers.length, sources, restored),
    places: new Map(servers.map(([address, place]) => [formatUpstream(address), toCounted(address, place)])),
  };
}

/** The servers of a route before they are found, as texts. */
export function listRouteServers({ plan, sources }: ForwardRoute): readonly string[] {
  return sources === undefined ? listServers(plan) : sources.upstreams.map(describeUpstream);
}

function describeUpstream(upstream: ForwardUpstream): string {
  switch (upstream.kind) {
    case 'address':
      return formatSocketAddress(upstream);
    case 'name':
      return upstream.name;
    case 'file':
      return upstream.path;
  }
}

/** The plan with what CoreDNS does in place of these deviations. */
function restore(
  plan: ForwardPlan,
  servers: number,
  { coreDns }: ServerSources,
  restored: RestoredDeviations,
): ForwardPlan {
  const { attempts = ATTEMPTS_PER_SERVER * servers, limits } = coreDns;
  const separate = { ...plan.limits, inFlight: MAX_SEPARATE, perClient: MAX_SEPARATE, queued: 0 };
  return {
    ...plan,
    ...(restored.has('sends-again') && profileOfCoreDns({ ...coreDns, attempts })),
    merges: !restored.has('forward-equal-questions'),
    ...(restored.has('shares-of-clients') && { limits: { ...separate, ...limits } }),
  };
}

function toCounted({ transport }: UpstreamAddress, place: UpstreamPlace): CountedServer {
  return { place, label: formatSocketAddress(place), protocol: transport === 'udp' ? 'udp' : 'tcp' };
}

function toUpstreamAddress(
  { scheme, address, port, serverName }: UpstreamPlace,
  { forceTcp, sourceAddress }: ServerSources,
): UpstreamAddress {
  return {
    transport: scheme === 'dns' ? (forceTcp ? 'tcp' : 'udp') : scheme,
    host: { kind: 'address', address },
    port,
    serverName,
    source:
      sourceAddress === undefined
        ? undefined
        : { address: sourceAddress, port: undefined, device: undefined },
  };
}
