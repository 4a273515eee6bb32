/**
 * What a server that is the whole pod says of its cache in class CHAOS, where the pod's sidecar asks dnsmasq.
 */

import type { Handler } from '../../chain/chain.ts';
import type { ResolverPlan } from '../../config/resolver/plan.ts';
import { createChaosHandler } from '../../handlers/chaos.ts';
import type { ResolverFigures } from '../../handlers/resolver/resolver.ts';
import { countAnswered, type QueryCounts } from '../../table/counter-sums.ts';
import type { TableStatistics } from '../../table/writer.ts';
import { identityOf } from '../chaos-identity.ts';
import { describeServers } from '../dnsmasq/statistics.ts';

export interface CacheIdentityOptions {
  readonly version: string;
  readonly resolver: ResolverPlan;
  /** Seconds. */
  readonly ttl: number;
  readonly table: () => TableStatistics;
  readonly queries: () => QueryCounts;
  readonly outside: () => ResolverFigures;
}

/** Octets that a cached answer takes more or less: the cache is bounded by octets, and a number of answers is asked for. */
const USUAL_OCTETS = 256;

export function createCacheIdentity(options: CacheIdentityOptions): Handler {
  const { version, resolver, ttl, table, queries, outside } = options;
  const { cacheEntries, cacheOctets } = resolver;
  const figures = () => {
    const { insertions, evictions } = table();
    const { remembering, forward } = outside();
    return {
      cacheSize: cacheEntries ?? Math.floor(cacheOctets / USUAL_OCTETS),
      ...{ insertions, evictions, misses: remembering.misses },
      hits: Math.max(0, countAnswered(queries()) - remembering.misses),
      servers: describeServers(forward.upstreams),
    };
  };
  return createChaosHandler({ identifies: true, ...identityOf(version), ttl, figures });
}
