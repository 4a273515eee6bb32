/**
 * The metrics of plugins, under CoreDNS's names: one registry for the process, so that counters keep their values when plans
 * change.
 */
import type { Counter as CounterOf, Gauge as GaugeOf, Registry as RegistryOf } from 'prom-client';
import { BulkHistogram } from './bulk-histogram.ts';
import { Counter, Gauge, Registry } from './prometheus.ts';

/** A family with its current values. */
export interface FamilyValues {
  readonly name: string;
  readonly values: readonly FamilyValue[];
}

export interface FamilyValue {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  /** Of a histogram: the name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export class PluginMetrics {
  readonly #registry = new Registry();
  readonly #collects = new Set<() => void>();

  /** The family of this name, created at its first use. A family without labels shows 0 from then on. */
  counter(name: string, help: string, labels: readonly string[] = []): CounterOf {
    return this.#find(Counter, { name, help, labels }, (settings) => new Counter(settings));
  }

  gauge(name: string, help: string, labels: readonly string[] = []): GaugeOf {
    return this.#find(Gauge, { name, help, labels }, (settings) => new Gauge(settings));
  }

  /** @param buckets upper bounds, in order */
  histogram(name: string, help: string, buckets: readonly number[]): BulkHistogram {
    const known: unknown = this.#registry.getSingleMetric(name);
    return known instanceof BulkHistogram ? known : new BulkHistogram(name, help, buckets, this.#registry);
  }

  /** Calls `collect` before metrics are shown, to add counts made elsewhere. @returns a function that ends this */
  collectBy(collect: () => void): () => void {
    this.#collects.add(collect);
    return () => void this.#collects.delete(collect);
  }

  /** All families, to show them under other names. */
  async families(): Promise<readonly FamilyValues[]> {
    for (const collect of this.#collects) collect();
    // The library's types omit the names of a histogram's samples.
    return (await this.#registry.getMetricsAsJSON()) as unknown as readonly FamilyValues[];
  }

  /** In the text format of Prometheus. */
  render(): Promise<string> {
    for (const collect of this.#collects) collect();
    return this.#registry.metrics();
  }

  #find<Kind>(
    kind: abstract new (...settings: never[]) => Kind,
    { name, help, labels }: Family,
    make: (settings: { name: string; help: string; labelNames: string[]; registers: RegistryOf[] }) => Kind,
  ): Kind {
    const known: unknown = this.#registry.getSingleMetric(name);
    if (known instanceof kind) return known;
    return make({ name, help, labelNames: [...labels], registers: [this.#registry] });
  }
}
