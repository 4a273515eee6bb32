/**
 * The metrics of `cache`, under CoreDNS's names.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { HitCounts } from '@portolan/kernel/chain/handler.ts';
import { CountFamily, type HandlerCount } from '@portolan/kernel/chain/handler-counts.ts';
import type { Query, QuerySite } from '@portolan/kernel/chain/query.ts';

/** Answers with records, and all others. */
export type CacheKind = keyof HitCounts;

export const CACHE_KINDS = ['success', 'denial'] as const;

interface Evictions extends Record<CacheKind, number> {
  readonly server: string;
  readonly view: string;
}

const LABELS = ['server', 'zones', 'view'];

export class CacheMetrics {
  readonly #zones: string;
  readonly #families: ReturnType<typeof createFamilies>;
  /** Evictions since they were last shown, one item for each server and view. */
  readonly #evictions: Evictions[] = [];

  /**
   * Counts of queries that the cache answers, and of those that it passes on. They hold no reference to the cache and outlive it.
   */
  readonly hits: HitCounts;
  readonly passing: readonly HandlerCount[];
  readonly #request: HandlerCount;
  readonly #miss: HandlerCount;
  readonly #hit: Readonly<Record<CacheKind, HandlerCount>>;

  /** @param zones of the cache */
  constructor(metrics: MetricRegistry, zones: readonly NameKey[]) {
    this.#zones = zones.join();
    this.#families = createFamilies(metrics);
    const { requests, hits, misses } = this.#families;
    const own = { zones: this.#zones };
    this.#request = requests.with(own);
    this.#miss = misses.with(own);
    this.#hit = {
      success: hits.with({ ...own, type: 'success' }),
      denial: hits.with({ ...own, type: 'denial' }),
    };
    this.hits = {
      success: [this.#request, this.#hit.success],
      denial: [this.#request, this.#hit.denial],
    };
    this.passing = [this.#request, this.#miss];
  }

  requested(query: Query): void {
    query.count(this.#request);
  }

  hit(query: Query, type: CacheKind): void {
    query.count(this.#hit[type]);
  }

  missed(query: Query): void {
    query.count(this.#miss);
  }

  /** What counts for a query that was missed, and what for later ones in its place. */
  later(type: CacheKind): readonly [miss: HandlerCount, hit: HandlerCount] {
    return [this.#miss, this.#hit[type]];
  }

  prefetched(query: Query): void {
    this.#families.prefetches.inc(this.#labels(query));
  }

  servedStale(query: Query): void {
    this.#families.servedStale.inc(this.#labels(query));
  }

  /** Sums evictions until `showEvictions`: it would be too slow to look up labels for each one. */
  evicted({ server, view }: QuerySite, type: CacheKind): void {
    const counts = this.#evictions.find((each) => each.server === server && each.view === view);
    if (counts !== undefined) counts[type] += 1;
    else this.#evictions.push({ server, view, success: 0, denial: 0, [type]: 1 });
  }

  /** Shows the current number of entries. */
  show(site: QuerySite, entries: Readonly<Record<CacheKind, number>>): void {
    const labels = this.#labels({ site });
    for (const type of CACHE_KINDS) this.#families.entries.set({ ...labels, type }, entries[type]);
  }

  /** Adds evictions to the metrics. */
  showEvictions(): void {
    for (const { server, view, ...counts } of this.#evictions.splice(0))
      for (const type of CACHE_KINDS)
        if (counts[type] > 0)
          this.#families.evictions.inc({ server, zones: this.#zones, view, type }, counts[type]);
  }

  #labels({ site: { server, view } }: Pick<Query, 'site'>) {
    return { server, zones: this.#zones, view };
  }
}

function createFamilies(metrics: MetricRegistry) {
  const typed = [...LABELS, 'type'];
  // Create families at once, so that they are listed before their first count.
  metrics.counter(
    'coredns_cache_drops_total',
    'The number responses that are not cached, because the reply is malformed.',
    LABELS,
  );
  return {
    entries: metrics.gauge('coredns_cache_entries', 'The number of elements in the cache.', typed),
    requests: new CountFamily(
      metrics,
      'coredns_cache_requests_total',
      'The count of cache requests.',
      LABELS,
    ),
    hits: new CountFamily(metrics, 'coredns_cache_hits_total', 'The count of cache hits.', typed),
    misses: new CountFamily(metrics, 'coredns_cache_misses_total', 'The count of cache misses.', LABELS),
    prefetches: metrics.counter(
      'coredns_cache_prefetch_total',
      'The number of times the cache has prefetched a cached item.',
      LABELS,
    ),
    servedStale: metrics.counter(
      'coredns_cache_served_stale_total',
      'The number of requests served from stale cache entries.',
      LABELS,
    ),
    evictions: metrics.counter('coredns_cache_evictions_total', 'The count of cache evictions.', typed),
  };
}
