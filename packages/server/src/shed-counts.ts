/**
 * The counts of the plugin `shed`: what the listener groups that have it drop.
 */
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { DROPPED, ListenerDrops, makeListenerDrops } from '@portolan/kernel/listen/listener-drops.ts';
import type { ListenerGroupPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';

const HELP = 'Counter of queries and responses dropped, per server, by reason.';

/** Values of the label `reason`. */
const REASONS = { query: DROPPED.QUERIES, response: DROPPED.RESPONSES } as const;

export class ShedCounts {
  readonly #metrics: MetricRegistry;
  readonly #byServer = new Map<string, SharedArrayBuffer>();

  constructor(metrics: MetricRegistry) {
    this.#metrics = metrics;
  }

  /** Where readers count what a group drops; undefined: it has no `shed`. */
  open({ server, countsDrops = false }: ListenerGroupPlan): SharedArrayBuffer | undefined {
    if (!countsDrops) return undefined;
    const known = this.#byServer.get(server);
    if (known !== undefined) return known;
    const made = makeListenerDrops();
    this.#byServer.set(server, made);
    this.#show(server, new ListenerDrops(made));
    return made;
  }

  /** Shows the counts from now on: the first time as 0. */
  #show(server: string, counts: ListenerDrops): void {
    const counter = this.#metrics.counter('coredns_shed_dropped_total', HELP, ['server', 'reason']);
    const shown = { query: 0, response: 0 };
    this.#metrics.collectBy(() => {
      for (const reason of ['query', 'response'] as const) {
        const now = counts.read(REASONS[reason]);
        counter.inc({ server, reason }, now - shown[reason]);
        shown[reason] = now;
      }
    });
  }
}
