/**
 * The TTL with which readers give the names of `hosts`. A `cache` before it bounds the TTLs of all that passes, and readers look at
 * names first.
 */
import { isWithinAny } from '@portolan/kernel/chain/match.ts';
import type { CacheRules } from '../cache/options.ts';
import type { HostsOptions } from './options.ts';

/**
 * @param cache that of the block; undefined: it has none
 * @returns seconds; undefined: the cache bounds the TTLs of some of the names only, so readers may give none
 */
export function computeReaderTtl(
  { ttl, zones }: Pick<HostsOptions, 'ttl' | 'zones'>,
  cache: CacheRules | undefined,
): number | undefined {
  if (cache?.kind !== 'coredns') return ttl;
  const { minTtl, maxTtl } = cache.success;
  const bounded = Math.min(Math.max(ttl, minTtl), maxTtl);
  const cached = new Set(cache.zones);
  return bounded === ttl || zones.every((zone) => isWithinAny(zone, cached)) ? bounded : undefined;
}
