/**
 * Compiles dnsmasq's cache options to caching rules for upstream replies.
 */
import { type CachingRules, DNSMASQ_CACHING } from '../../forward/caching/caching-rules.ts';
import type { StaleSettings } from '../../plugins/resolver/caching-resolver.ts';
import { TYPE } from '../../wire/types.ts';
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

/** The types whose answers are cached; undefined: all. */
export function listCachedTypes({
  moreTypes,
}: Pick<CachePlan, 'moreTypes'>): ReadonlySet<number> | undefined {
  const types = new Set([...CACHED_TYPES, ...moreTypes]);
  return types.has(TYPE.ANY) ? undefined : types;
}

/** `--use-stale-cache`: serves stale answers immediately with TTL 0 while it refreshes them. */
export function makeStaleSettings({ stale }: Pick<CachePlan, 'stale'>): StaleSettings | undefined {
  if (stale === 'never') return undefined;
  return { maxSeconds: stale === 'forever' ? undefined : stale, shownTtl: 0, timeout: 0 };
}

/** `--max-ttl`: the maximum TTL, in seconds, of answers to clients; does not limit caching. Undefined: no limit. */
export function maxTtlOf({ maxTtl }: Pick<CachePlan, 'maxTtl'>): number | undefined {
  return maxTtl === 0 ? undefined : maxTtl;
}
