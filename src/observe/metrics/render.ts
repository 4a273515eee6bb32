/**
 * Figures in the text format of Prometheus. They are read when they are asked for; nothing is counted here.
 */
import type {
  Gauge as PrometheusGauge,
  Metric as PrometheusMetric,
  Registry as PrometheusRegistry,
} from 'prom-client';
import type { Figures } from '../figures.ts';
import { HISTOGRAMS, METRICS } from './all.ts';
import type { HistogramMetric, Metric } from './metric.ts';
import { Counter, Gauge, Registry } from './prometheus.ts';
import { type SkyDnsNames, writeSkyDnsMetrics } from './skydns.ts';

export interface MetricsOptions {
  /** Of the program. */
  readonly version: string;
  /** Show those of SkyDNS too, under these names. */
  readonly skyDns?: SkyDnsNames | undefined;
}

export class Metrics {
  readonly #figures: () => Figures;
  readonly #skyDns: SkyDnsNames | undefined;
  readonly #registry = new Registry();
  readonly #filled: readonly ((figures: Figures) => void)[];

  constructor({ version, skyDns }: MetricsOptions, figures: () => Figures) {
    this.#figures = figures;
    this.#skyDns = skyDns;
    const info = new Gauge({
      name: 'portolan_build_info',
      help: 'Always 1: the labels say which build this is.',
      labelNames: ['version', 'node'],
      registers: [this.#registry],
    });
    info.set({ version, node: process.version }, 1);
    this.#filled = [
      ...METRICS.map((metric) => fillerOf(metric, this.#registry)),
      ...HISTOGRAMS.map((histogram) => histogramFillerOf(histogram, this.#registry)),
    ];
  }

  /** All of them, as they stand now. */
  async render(): Promise<string> {
    const figures = this.#figures();
    for (const fill of this.#filled) fill(figures);
    const own = await this.#registry.metrics();
    return this.#skyDns === undefined ? own : own + writeSkyDnsMetrics(this.#skyDns, figures.queries);
  }
}

function fillerOf(metric: Metric, registry: PrometheusRegistry): (figures: Figures) => void {
  const options = {
    name: metric.name,
    help: metric.help,
    labelNames: [...metric.labels],
    registers: [registry],
  };
  if (metric.kind === 'gauge') {
    const gauge = new Gauge(options);
    return (figures) => {
      clear(gauge, metric);
      for (const [labels, value] of metric.read(figures)) gauge.set(labels, value);
    };
  }
  const counter = new Counter(options);
  return (figures) => {
    clear(counter, metric);
    for (const [labels, value] of metric.read(figures)) counter.inc(labels, value);
  };
}

/** Leaves no sample. A reset alone makes one of 0 where there are no labels. */
function clear(filled: Pick<PrometheusGauge, 'reset' | 'remove'>, { labels }: Metric): void {
  filled.reset();
  if (labels.length === 0) filled.remove();
}

/** Its own histograms want to see each value; these were counted elsewhere. */
function histogramFillerOf(
  metric: HistogramMetric,
  registry: PrometheusRegistry,
): (figures: Figures) => void {
  const { name, help } = metric;
  let values: readonly object[] = [];
  const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values });
  // Of a metric the registry uses its name, and `get` for what to show.
  registry.registerMetric({ name, get } as unknown as PrometheusMetric);
  return (figures) => {
    const { buckets, sum, count } = metric.read(figures);
    const bucket = (le: number | '+Inf', value: number) => ({
      ...{ metricName: `${name}_bucket`, labels: { le } },
      value,
    });
    values = [
      ...buckets.map(([upperEnd, below]) => bucket(upperEnd, below)),
      bucket('+Inf', count),
      { metricName: `${name}_sum`, labels: {}, value: sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
  };
}
