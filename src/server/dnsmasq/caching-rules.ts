/**
 * dnsmasq's cache options as rules for answers from upstream.
 */
import type { Handler } from '../../chain/chain.ts';
import type { CachePlan } from '../../config/dnsmasq/plan.ts';
import { type CachingRules, DNSMASQ_CACHING } from '../../forward/caching/caching-rules.ts';
import type { StaleTerms } from '../../handlers/resolver/remembering.ts';
import { TYPE } from '../../wire/types.ts';

/** What dnsmasq caches without being asked to. */
const CACHED_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.CNAME, TYPE.PTR, TYPE.SRV];

/** @param base what holds where no option says otherwise */
export function makeCachingRules(plan: CachePlan, base: CachingRules = DNSMASQ_CACHING): CachingRules {
  const { minCacheTtl, maxCacheTtl, negativeTtl, negatives } = plan;
  const bound = (seconds: number) => (seconds === 0 ? undefined : seconds);
  return {
    ...base,
    minCacheTtl,
    ...{ maxCacheTtl: bound(maxCacheTtl), negTtl: bound(negativeTtl) },
    negativeCaching: negatives,
  };
}

/** Lets only answers of these types be remembered. */
export function createTypeLimit({ moreTypes }: Pick<CachePlan, 'moreTypes'>): Handler {
  const types = new Set([...CACHED_TYPES, ...moreTypes]);
  return async (query, next) => {
    const answer = await next(query);
    if (answer.kind !== 'forwarded' || types.has(query.question.type) || types.has(TYPE.ANY)) return answer;
    return { ...answer, memory: undefined };
  };
}

/** `--use-stale-cache`: at once, with a TTL of 0, while a new answer is fetched. */
export function makeStaleTerms({ stale }: Pick<CachePlan, 'stale'>): StaleTerms | undefined {
  if (stale === 'never') return undefined;
  return { mostSeconds: stale === 'forever' ? undefined : stale, shownTtl: 0, patience: 0 };
}

/** `--max-ttl`: seconds that clients are told at most, however long an answer is kept. Undefined: no bound. */
export function mostTtlOf({ maxTtl }: Pick<CachePlan, 'maxTtl'>): number | undefined {
  return maxTtl === 0 ? undefined : maxTtl;
}
