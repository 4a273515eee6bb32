/**
 * The cache of a server block.
 */
import type { NameKey } from '../../wire/types.ts';

export interface CacheOptions {
  /** Names below one of these are cached. */
  readonly zones: readonly NameKey[];
  /** Answers with records. */
  readonly success: CacheLimits;
  /** Negative answers. */
  readonly denial: CacheLimits;
  /** Undefined: answers are never refreshed before they expire. */
  readonly prefetch: CachePrefetch | undefined;
  /** Whether answers that clients have asked for again are refreshed shortly before they expire, from `portolan`. Default: no. */
  readonly refreshesUsed?: boolean;
  /** Undefined: expired answers are not served. */
  readonly serveStale: CacheServeStale | undefined;
  /** How long SERVFAIL is cached: milliseconds, 0 to 300,000. */
  readonly servfailTtl: number;
  /** Zones whose answers with records are not cached. */
  readonly uncachedSuccess: readonly NameKey[];
  /** Zones whose negative answers are not cached. */
  readonly uncachedDenial: readonly NameKey[];
  /** Whether answers keep their original TTL, however long they are cached. */
  readonly keepTtl: boolean;
}

export interface CacheLimits {
  /** Entries. CoreDNS spreads them over 256 shards of at least 4 each, so a small number still holds 1024. */
  readonly capacity: number;
  /** Seconds, from 1. */
  readonly maxTtl: number;
  /** Seconds, from 0: shorter TTLs are raised to it. */
  readonly minTtl: number;
}

export interface CachePrefetch {
  /** Number of queries that make a name popular, from 1. */
  readonly amount: number;
  /** Maximum time between two of them: milliseconds. */
  readonly duration: number;
  /** Percentage of the TTL that is left when the answer is refreshed: 10 to 90. */
  readonly percentage: number;
}

export interface CacheServeStale {
  /** How long after its end an answer may be served: milliseconds. */
  readonly duration: number;
  /** `immediate`: serve at once, and refresh in the background. `verify`: serve only if the refresh fails. */
  readonly refresh: 'immediate' | 'verify';
  /** How long to wait for the fresh answer: milliseconds. Undefined: as long as it takes. */
  readonly verifyTimeout: number | undefined;
  /** The TTL of a stale answer: seconds. */
  readonly ttl: number;
  /** How long after a failed attempt the next one is made: milliseconds, 0 for every query. */
  readonly recheck: number;
  /** Whether to prefer a stale answer with records to a fresh negative one. */
  readonly prefersPositive: boolean;
}
