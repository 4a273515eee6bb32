/**
 * Counters of handlers. Each handler declares its families and labels, so that code that answers in its place adds to the same
 * families.
 */
import type { HandlerCount, CountFamily as PluginCountFamily } from '@portolan/plugin';
import type { Counter } from '../base/metrics/counted-families.ts';
import type { MetricRegistry } from '../base/metrics/registry.ts';

export type { HandlerCount } from '@portolan/plugin';

type CountedSite = Parameters<HandlerCount['add']>[0];

/** A family of counters that a handler adds to for queries. */
export class CountFamily implements PluginCountFamily {
  readonly #counter: Counter;
  readonly #name: string;
  readonly #labels: readonly string[];

  /** @param labels `server` and `view`, if included, are those of the query */
  constructor(metrics: MetricRegistry, name: string, help: string, labels: readonly string[] = []) {
    this.#counter = metrics.counter(name, help, labels);
    this.#name = name;
    this.#labels = labels;
  }

  /** @param values of the other labels */
  with(values: Readonly<Record<string, string>> = {}): HandlerCount {
    const counter = this.#counter;
    const labels = this.#labels;
    const labelsAt = ({ server, view }: CountedSite) => {
      const own = new Map([...Object.entries(values), ['server', server], ['view', view]]);
      return Object.fromEntries(labels.map((label) => [label, own.get(label) ?? '']));
    };
    // Most queries arrive at the same place as the previous one.
    let last: (CountedSite & { readonly add: (times: number) => void }) | undefined;
    return {
      key: `${this.#name} ${Object.values(values).join(' ')}`,
      add(site, times) {
        const { server, view } = site;
        if (server !== last?.server || view !== last.view)
          last = { server, view, add: counter.series(labelsAt(site)) };
        last.add(times);
      },
    };
  }
}
