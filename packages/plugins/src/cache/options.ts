/**
 * The rules of a cache, as data: those of CoreDNS, of dnsmasq, and our own.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { CachingRules } from '@portolan/kernel/forward/caching/caching-rules.ts';

export type CacheRules = CoreDnsCacheRules | NativeRules;

interface CommonRules {
  /** Undefined: expired answers are not served. */
  readonly serveStale: CacheServeStale | undefined;
  /** Whether answers that clients have asked for again are refreshed shortly before they expire. Default: no. */
  readonly refreshesUsed?: boolean;
}

/**
 * A question may have two answers: one with records, and a denial. Each kind has a number of entries, of which the oldest is evicted. All
 * records of an answer have the same TTL.
 */
export interface CoreDnsCacheRules extends CommonRules {
  readonly kind: 'coredns';
  /** Names below one of these are cached. */
  readonly zones: readonly NameKey[];
  /** Answers with records. */
  readonly success: CacheLimits;
  /** Negative answers. */
  readonly denial: CacheLimits;
  /** Undefined: no answer is refreshed because it is popular. */
  readonly prefetch: CachePrefetch | undefined;
  /** How long SERVFAIL is cached: milliseconds, 0 to 300,000. */
  readonly servfailTtl: number;
  /** Zones whose answers with records are not cached. */
  readonly uncachedSuccess: readonly NameKey[];
  /** Zones whose negative answers are not cached. */
  readonly uncachedDenial: readonly NameKey[];
  /** Whether answers keep their original TTL, however long they are cached. */
  readonly keepTtl: boolean;
}

/** A question has one answer, whose records keep TTLs of their own. The size of the table is the bound. */
export interface NativeRules extends CommonRules {
  readonly kind: 'own';
  /** Which replies are cached, and for how long. */
  readonly caching: CachingRules;
  /** Types whose answers are cached; undefined: all. Questions for others are passed on as they came: see `PassedOn`. */
  readonly cachedTypes?: ReadonlySet<number> | undefined;
  /** Whether equal questions of such a type share an answer for a second that datagrams do not carry. Default: no. */
  readonly sharesLargeAnswers?: boolean;
  /** Maximum TTL sent to clients, in seconds, however long an answer is cached. The table has its own such bound. */
  readonly maxTtl?: number | undefined;
}

export interface CacheLimits {
  /** Entries: see `computeEntries`. */
  readonly capacity: number;
  /** Seconds, from 1. */
  readonly maxTtl: number;
  /** Seconds, from 0: shorter TTLs are raised to it. */
  readonly minTtl: number;
  /** Whether it is configured. If not, it does not raise what the SOA record of a negative answer says, but with `-compat`. */
  readonly isMinTtlGiven?: boolean;
}

/** Number of shards in CoreDNS, and minimum capacity of each. */
const SHARDS = 256;
const MIN_PER_SHARD = 4;

/** How many answers of a kind are kept. CoreDNS spreads them over shards, so a small number still holds 1024. */
export function computeEntries({ capacity }: CacheLimits): number {
  return SHARDS * Math.max(MIN_PER_SHARD, Math.floor(capacity / SHARDS));
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
  /** How long after its end an answer may be served: milliseconds; infinite: always. */
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

/**
 * As RFC 8767 section 5 recommends: ask first, wait for 1.8 s, serve with a TTL of 30 s, for a day at most. It recommends to ask again
 * after 30 s, to spare failing servers. One question per name in 5 s spares them too, and a server that recovers is noticed sooner.
 */
export const RFC_8767: CacheServeStale = {
  duration: 86_400_000,
  refresh: 'verify',
  verifyTimeout: 1_800,
  ttl: 30,
  recheck: 5_000,
  prefersPositive: false,
};

/** Milliseconds that a client waits for a fresh answer while there is a stale one; undefined: as long as it takes. */
export function toPatience({ refresh, verifyTimeout }: CacheServeStale): number | undefined {
  return refresh === 'immediate' ? 0 : verifyTimeout;
}
