/**
 * The statistics that SIGUSR1 logs, in dnsmasq's format.
 */
import type { ChaosStats } from '@portolan/plugins/chaos/dnsmasq-answers.ts';
import {
  countHits,
  describeServers,
  type ServerStatistics,
} from '@portolan/plugins/chaos/server-statistics.ts';
import type { Server } from '@portolan/server/server.ts';
import type { DnsmasqPlan } from '../settings/dnsmasq-plan.ts';

export interface DnsmasqStatistics extends ChaosStats {
  readonly servers: readonly ServerStatistics[];
  /** Stale answers served. */
  readonly stale: number;
  /** Upstream queries in flight. */
  readonly inFlight: number;
  readonly cacheOctets: number;
  readonly connections: number;
  readonly maxConnections: number;
}

/** Collects the statistics of a server with dnsmasq's options. */
export function collectStatistics({ engine, tcpConnections }: Server, plan: DnsmasqPlan): DnsmasqStatistics {
  engine.readerPath.catchUp();
  const { misses = 0, stale = 0 } = engine.count().cache ?? {};
  const { inFlight, upstreams } = engine.forwardTally.count();
  const { insertions, evictions, cachedOctets } = engine.table.statistics();
  return {
    cacheSize: plan.cache.size,
    insertions,
    evictions,
    misses,
    stale,
    hits: countHits(engine.countQueries(), misses),
    inFlight,
    cacheOctets: cachedOctets,
    servers: describeServers(upstreams),
    connections: tcpConnections,
    maxConnections: plan.listen.maxTcpConnections,
  };
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
    `TCP connections: in use ${statistics.connections}, max allowed ${statistics.maxConnections}.`,
    ...servers.map(
      ({ server, queries, retried, failed, nxdomain, latency }) =>
        `server ${server}: queries sent ${queries}, retried ${retried}, failed ${failed}, ` +
        `nxdomain replies ${nxdomain}, avg. latency ${latency}ms`,
    ),
  ];
}
