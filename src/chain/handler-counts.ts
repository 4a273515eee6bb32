/**
 * What handlers count: each declares the families that it adds to, and with which labels. So whoever gives an answer in place of the
 * handlers adds to the same families as they would.
 */
import type { Counter } from 'prom-client';
import type { PluginMetrics } from './plugin-metrics.ts';

/** Where a query arrived: metrics of most handlers have it in their labels. */
export interface CountedSite {
  readonly server: string;
  readonly view: string;
}

/** What is counted of one query in one family, beside what is counted of every query. */
export interface HandlerCount {
  /** Counts with the same key count the same, wherever the query arrived. */
  readonly key: string;
  add(site: CountedSite, times: number): void;
}

/** A family of counters that a handler adds to for queries. */
export class CountFamily {
  readonly #counter: Counter;
  readonly #name: string;
  readonly #labels: readonly string[];

  /** @param labels `server` and `view`, if they are among them, are those of the query */
  constructor(metrics: PluginMetrics, name: string, help: string, labels: readonly string[] = []) {
    this.#counter = metrics.counter(name, help, labels);
    this.#name = name;
    this.#labels = labels;
  }

  /** @param values of the other labels */
  with(values: Readonly<Record<string, string>> = {}): HandlerCount {
    const counter = this.#counter;
    const labels = this.#labels;
    const own = new Map(Object.entries(values));
    const labelsAt = ({ server, view }: CountedSite) =>
      Object.fromEntries(
        labels.map((label) => [
          label,
          label === 'server' ? server : label === 'view' ? view : (own.get(label) ?? ''),
        ]),
      );
    // Most queries arrive where the one before did.
    let last: (CountedSite & { readonly labels: Readonly<Record<string, string>> }) | undefined;
    return {
      key: `${this.#name} ${Object.values(values).join(' ')}`,
      add(site, times) {
        const { server, view } = site;
        if (server !== last?.server || view !== last.view) last = { server, view, labels: labelsAt(site) };
        counter.inc(last.labels, times);
      },
    };
  }
}
