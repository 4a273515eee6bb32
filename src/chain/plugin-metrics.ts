/**
 * The metrics of plugins, under CoreDNS's names: one registry for the process, whatever plans come and go, so that nothing that
 * was counted is counted anew.
 */
import { Counter, Gauge, Registry } from 'prom-client';
import { BulkHistogram } from './bulk-histogram.ts';

interface Family {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export class PluginMetrics {
  readonly #registry = new Registry();
  #collect: () => void = () => {};

  /** The family of this name, made at its first use. One without labels is there with 0 from then on. */
  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.#find(Counter, { name, help, labels }, (settings) => new Counter(settings));
  }

  gauge(name: string, help: string, labels: readonly string[] = []): Gauge {
    return this.#find(Gauge, { name, help, labels }, (settings) => new Gauge(settings));
  }

  /** @param buckets upper bounds, in order */
  histogram(name: string, help: string, buckets: readonly number[]): BulkHistogram {
    const known: unknown = this.#registry.getSingleMetric(name);
    return known instanceof BulkHistogram ? known : new BulkHistogram(name, help, buckets, this.#registry);
  }

  /** Has something counted elsewhere brought in before metrics are shown. */
  collectBy(collect: () => void): void {
    this.#collect = collect;
  }

  /** In the text format of Prometheus. */
  render(): Promise<string> {
    this.#collect();
    return this.#registry.metrics();
  }

  #find<Kind>(
    kind: abstract new (...settings: never[]) => Kind,
    { name, help, labels }: Family,
    make: (settings: { name: string; help: string; labelNames: string[]; registers: Registry[] }) => Kind,
  ): Kind {
    const known: unknown = this.#registry.getSingleMetric(name);
    if (known instanceof kind) return known;
    return make({ name, help, labelNames: [...labels], registers: [this.#registry] });
  }
}
