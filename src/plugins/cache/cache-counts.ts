/**
 * The metrics of `cache`, under CoreDNS's names.
 */
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { Query, QuerySite } from '../../chain/query.ts';
import type { NameKey } from '../../wire/types.ts';

/** Answers with records, and all others. */
export type CacheKind = 'success' | 'denial';

/** What readers count the answers of a cache for: 0 is what is not from a cache. */
export const CACHE_OUTCOMES: Readonly<Record<CacheKind, number>> = { success: 1, denial: 2 };

const LABELS = ['server', 'zones', 'view'];

export class CacheCounts {
  readonly #zones: string;
  readonly #families: ReturnType<typeof familiesOf>;
  /** By kind, view and server, since they were last shown. */
  readonly #evictions = new Map<string, number>();

  /**
   * Counts answers that readers gave. It outlives its cache, which it does not keep.
   *
   * @param server the one that was asked
   * @param outcome one of `CACHE_OUTCOMES`
   */
  readonly countRead = (server: string, outcome: number, times: number): void => {
    const type = outcome === CACHE_OUTCOMES.success ? 'success' : 'denial';
    const labels = { server, zones: this.#zones, view: '' };
    this.#families.requests.inc(labels, times);
    this.#families.hits.inc({ ...labels, type }, times);
  };

  /** Counts questions that readers forwarded. It does not keep the cache either. */
  readonly countForwarded = (server: string, times: number): void => {
    const labels = { server, zones: this.#zones, view: '' };
    this.#families.requests.inc(labels, times);
    this.#families.misses.inc(labels, times);
  };

  /** @param zones of the cache */
  constructor(metrics: PluginMetrics, zones: readonly NameKey[]) {
    this.#zones = zones.join();
    this.#families = familiesOf(metrics);
  }

  requested(query: Query): void {
    this.#families.requests.inc(this.#labels(query));
  }

  hit(query: Query, type: CacheKind): void {
    this.#families.hits.inc({ ...this.#labels(query), type });
  }

  missed(query: Query): void {
    this.#families.misses.inc(this.#labels(query));
  }

  prefetched(query: Query): void {
    this.#families.prefetches.inc(this.#labels(query));
  }

  servedStale(query: Query): void {
    this.#families.servedStale.inc(this.#labels(query));
  }

  /** Counted for all together until `show`: label sets are too dear to be looked up for each. */
  evicted({ server, view }: QuerySite, type: CacheKind): void {
    const key = `${type} ${view} ${server}`;
    this.#evictions.set(key, (this.#evictions.get(key) ?? 0) + 1);
  }

  /** How many answers there are now, and brings in those that had to go. */
  show(site: QuerySite, entries: Readonly<Record<CacheKind, number>>): void {
    const labels = this.#labels({ site });
    for (const type of ['success', 'denial'] as const) {
      this.#families.entries.set({ ...labels, type }, entries[type]);
      const key = `${type} ${site.view} ${site.server}`;
      const evicted = this.#evictions.get(key) ?? 0;
      if (evicted > 0) this.#families.evictions.inc({ ...labels, type }, evicted);
      this.#evictions.delete(key);
    }
  }

  #labels({ site: { server, view } }: Pick<Query, 'site'>) {
    return { server, zones: this.#zones, view };
  }
}

function familiesOf(metrics: PluginMetrics) {
  const typed = [...LABELS, 'type'];
  // Families that nothing has happened in yet are named too.
  metrics.counter(
    'coredns_cache_drops_total',
    'The number responses that are not cached, because the reply is malformed.',
    LABELS,
  );
  return {
    entries: metrics.gauge('coredns_cache_entries', 'The number of elements in the cache.', typed),
    requests: metrics.counter('coredns_cache_requests_total', 'The count of cache requests.', LABELS),
    hits: metrics.counter('coredns_cache_hits_total', 'The count of cache hits.', typed),
    misses: metrics.counter('coredns_cache_misses_total', 'The count of cache misses.', LABELS),
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
