/**
 * dnsmasq's cache options as rules for answers from upstream.
 */
import type { CachePlan } from '../../config/dnsmasq/plan.ts';
import { type CachingRules, DNSMASQ_CACHING } from '../../forward/caching/caching-rules.ts';
import type { StaleTerms } from '../../handlers/resolver/remembering.ts';
import { TYPE } from '../../wire/types.ts';

/** What dnsmasq caches without being asked to. */
const CACHED_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.CNAME, TYPE.PTR, TYPE.SRV];

export function makeCachingRules(plan: CachePlan): CachingRules {
  const { minCacheTtl, maxCacheTtl, maxTtl, negativeTtl, negatives } = plan;
  const bound = (seconds: number) => (seconds === 0 ? undefined : seconds);
  return {
    ...DNSMASQ_CACHING,
    minCacheTtl,
    ...{ maxCacheTtl: bound(maxCacheTtl), maxTtl: bound(maxTtl), negTtl: bound(negativeTtl) },
    negativeCaching: negatives,
  };
}

/** Whether answers to questions of a type are kept. */
export function isCachedType(type: number, { moreTypes }: Pick<CachePlan, 'moreTypes'>): boolean {
  return CACHED_TYPES.includes(type) || moreTypes.includes(type) || moreTypes.includes(TYPE.ANY);
}

/** `--use-stale-cache`: at once, with a TTL of 0, while a new answer is fetched. */
export function makeStaleTerms({ stale }: Pick<CachePlan, 'stale'>): StaleTerms | undefined {
  if (stale === 'never') return undefined;
  return { mostSeconds: stale === 'forever' ? undefined : stale, shownTtl: 0, patience: 0 };
}
