/**
 * dnsmasq's cache options as rules for answers from upstream.
 */
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';
import { type CachingRules, DNSMASQ_CACHING } from '../../forward/caching/caching-rules.ts';
import type { StaleSettings } from '../../resolver/caching-resolver.ts';
import { TYPE } from '../../wire/types.ts';
import type { CachePlan } from './dnsmasq-plan.ts';

/** What dnsmasq caches without being asked to. */
const CACHED_TYPES: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.CNAME, TYPE.PTR, TYPE.SRV];

/** @param base what holds where no option says otherwise */
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

/** Lets only answers of these types be remembered. */
export function createTypeLimit({ moreTypes }: Pick<CachePlan, 'moreTypes'>): Handler {
  const types = new Set([...CACHED_TYPES, ...moreTypes]);
  return {
    name: 'cached-types',
    role: 'other',
    questions: NO_QUESTIONS,
    // What clients see stays as it is.
    answers: 'modifiers',
    handle: async (query, next) => {
      const answer = await next(query);
      if (answer.kind !== 'forwarded' || types.has(query.question.type) || types.has(TYPE.ANY)) return answer;
      return { ...answer, memory: undefined };
    },
  };
}

/** `--use-stale-cache`: at once, with a TTL of 0, while a new answer is fetched. */
export function makeStaleSettings({ stale }: Pick<CachePlan, 'stale'>): StaleSettings | undefined {
  if (stale === 'never') return undefined;
  return { maxSeconds: stale === 'forever' ? undefined : stale, shownTtl: 0, timeout: 0 };
}

/** `--max-ttl`: the maximum TTL in answers to clients, in seconds, however long an answer is cached. Undefined: no bound. */
export function maxTtlOf({ maxTtl }: Pick<CachePlan, 'maxTtl'>): number | undefined {
  return maxTtl === 0 ? undefined : maxTtl;
}
