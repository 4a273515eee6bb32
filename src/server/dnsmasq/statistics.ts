/**
 * The counts of a server in dnsmasq's words: what SIGUSR1 logs.
 */
import type { UpstreamStatistics } from '../../forward/upstream/upstream.ts';
import type { ChaosFigures } from '../../handlers/chaos.ts';
import { RCODE } from '../../wire/types.ts';

export interface ServerStatistics {
  /** `127.0.0.1#53`. */
  readonly server: string;
  readonly queries: number;
  readonly retried: number;
  readonly failed: number;
  readonly nxdomain: number;
  /** Milliseconds. */
  readonly latency: number;
}

export interface DnsmasqStatistics extends ChaosFigures {
  readonly servers: readonly ServerStatistics[];
  /** Answers that were served after their end. */
  readonly stale: number;
  /** Questions under way upstream. */
  readonly inFlight: number;
  readonly cacheOctets: number;
  readonly connections: number;
  readonly mostConnections: number;
}

/** @param seconds since the epoch */
export function describeStatistics(statistics: DnsmasqStatistics, seconds: number): readonly string[] {
  const { cacheSize, evictions, insertions, misses, hits, stale, servers } = statistics;
  return [
    `time ${seconds}`,
    `cache size ${cacheSize}, ${evictions}/${insertions} cache insertions re-used unexpired cache entries.`,
    `queries forwarded ${misses}, queries answered locally ${hits}`,
    ...(stale > 0 ? [`queries answered from stale cache ${stale}`] : []),
    'queries for authoritative zones 0',
    `pool memory in use ${statistics.cacheOctets}, questions under way ${statistics.inFlight}`,
    `TCP connections: in use ${statistics.connections}, max allowed ${statistics.mostConnections}.`,
    ...servers.map(
      ({ server, queries, retried, failed, nxdomain, latency }) =>
        `server ${server}: queries sent ${queries}, retried ${retried}, failed ${failed}, ` +
        `nxdomain replies ${nxdomain}, avg. latency ${latency}ms`,
    ),
  ];
}

/** The upstream servers, as the forwarder knows them. */
export function describeServers(upstreams: readonly UpstreamStatistics[]): readonly ServerStatistics[] {
  return upstreams.map(({ upstream, sent, replies, timeouts, networkErrors, smoothedRoundTrip }) => {
    const refused = (replies.get(RCODE.SERVFAIL) ?? 0) + (replies.get(RCODE.REFUSED) ?? 0);
    return {
      server: toDnsmasqServer(upstream),
      ...{ queries: sent, retried: timeouts, failed: refused + networkErrors },
      nxdomain: replies.get(RCODE.NXDOMAIN) ?? 0,
      latency: Math.round(smoothedRoundTrip ?? 0),
    };
  });
}

/** `192.0.2.1:53` or `[2001:db8::1]:53`, perhaps with a source behind it, as `192.0.2.1#53`. */
export function toDnsmasqServer(upstream: string): string {
  return upstream.replace(/^\[?(.*?)\]?:(\d+)(@.*)?$/, '$1#$2');
}
