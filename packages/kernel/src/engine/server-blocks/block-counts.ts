/**
 * Metrics of all server blocks together: queries outside all zones, internal errors, and the enabled plugins. They exist if a
 * block counts its queries.
 */
import type { MetricRegistry } from '../../base/metrics/registry.ts';
import type { Handler } from '../../chain/handler.ts';
import { QueryMetrics } from '../../chain/query-metrics.ts';
import { getViewName, type ServerBlocksPlan } from '../../plan/server-blocks-plan.ts';
import type { DroppedQuery } from './listener-group.ts';

export class BlockCounts {
  readonly isCounting: boolean;
  readonly #metrics: MetricRegistry;

  constructor(handlers: readonly Handler[], metrics: MetricRegistry) {
    this.#metrics = metrics;
    this.isCounting = handlers.some(countsQueries);
    if (this.isCounting) this.#panics();
  }

  /** From now on, shows only the handlers of the blocks that count. */
  enabled({ groups, blocks }: ServerBlocksPlan, listHandlers: (block: number) => readonly Handler[]): void {
    if (!this.isCounting) return;
    const labels = ['server', 'zone', 'view', 'name'];
    const help = 'A metric that indicates whether a plugin is enabled on per server and zone basis.';
    const gauge = this.#metrics.gauge('coredns_plugin_enabled', help, labels);
    gauge.reset();
    for (const { server, sites } of groups) {
      const shown = new Set<number>();
      for (const { zone, block } of sites) {
        const handlers = listHandlers(block);
        // Show a block only once, for its first zone.
        if (shown.has(block) || !handlers.some(countsQueries)) continue;
        shown.add(block);
        const view = getViewName(blocks[block]);
        for (const { name } of handlers) gauge.set({ server, zone, view, name }, 1);
      }
    }
  }

  /** Counts a query outside all zones. */
  dropped(query: DroppedQuery, responseSize: number): void {
    new QueryMetrics(this.#metrics).count({ ...query, responseSize, plugin: '', seconds: 0 });
  }

  /** Counts an internal error. */
  panicked(): void {
    if (this.isCounting) this.#panics().inc();
  }

  #panics() {
    return this.#metrics.counter('coredns_panics_total', 'A metrics that counts the number of panics.');
  }
}

const countsQueries = (handler: Handler): boolean => handler.countsQueries === true;
