/**
 * Compiles dnsmasq's cache options to caching rules for upstream replies.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { type CachingRules, DNSMASQ_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { type CacheServeStale, type NativeRules, RFC_8767 } from '@portolan/plugins/cache/options.ts';
import type { CachePlan } from './dnsmasq-plan.ts';

/** The types that dnsmasq caches by default. */
const CACHED_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.CNAME, TYPE.PTR, TYPE.SRV];

/** @param base the rules where no option overrides them */
export function makeCachingRules(plan: CachePlan, base: CachingRules = DNSMASQ_CACHING): CachingRules {
  const { minCacheTtl, maxCacheTtl, negativeTtl, negatives } = plan;
  const bound = (seconds: number) => (seconds === 0 ? undefined : seconds);
  return {
    ...base,
    minCacheTtl,
    maxCacheTtl: bound(maxCacheTtl) ?? base.maxCacheTtl,
    negTtl: bound(negativeTtl),
    negativeCaching: negatives,
  };
}

/** The rules of a cache that behaves as dnsmasq's. It refreshes nothing by itself: dnsmasq sends only queries that a client has asked. */
export function makeCacheRules(plan: CachePlan): NativeRules {
  const { stale, moreTypes } = plan;
  const types = new Set([...CACHED_TYPES, ...moreTypes]);
  return {
    kind: 'own',
    caching: makeCachingRules(plan),
    serveStale: stale === 'never' ? undefined : makeStaleRules(stale),
    cachedTypes: types.has(TYPE.ANY) ? undefined : types,
    // A stale answer would be kept for longer.
    sharesLargeAnswers: stale === 'never',
    maxTtl: toMaxTtl(plan),
  };
}

/** `--use-stale-cache`: serves stale answers immediately with TTL 0 while it refreshes them. */
function makeStaleRules(stale: number | 'forever'): CacheServeStale {
  return { ...RFC_8767, duration: toStaleDuration(stale), refresh: 'immediate', ttl: 0 };
}

/** Milliseconds for which an expired answer may be served. */
export function toStaleDuration(stale: number | 'forever'): number {
  return stale === 'forever' ? Number.POSITIVE_INFINITY : stale * 1000;
}

/** `--max-ttl`: the maximum TTL, in seconds, of answers to clients; does not limit caching. Undefined: no limit. */
export function toMaxTtl({ maxTtl }: Pick<CachePlan, 'maxTtl'>): number | undefined {
  return maxTtl === 0 ? undefined : maxTtl;
}
