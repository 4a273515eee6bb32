/**
 * What the resolver of our own front ends counts.
 */
import type { ForwardCounts } from '../forward/forward-tally.ts';

export interface OwnCacheCounts {
  /** Questions answered from the cache, by handlers; readers count their own. */
  readonly hits: number;
  readonly misses: number;
  /** Answers served stale because no new one came in time, without those that readers repeat. */
  readonly stale: number;
  readonly prefetched: number;
}

export interface ResolverStats {
  readonly forward: ForwardCounts;
  readonly cache: OwnCacheCounts;
}
