/**
 * Renders metrics in Prometheus text format. Values are read at each scrape and counted elsewhere.
 */
import type {
  Gauge as PrometheusGauge,
  Metric as PrometheusMetric,
  Registry as PrometheusRegistry,
} from 'prom-client';
import { Counter, Gauge, Registry } from '../../chain/prometheus.ts';
import type { Stats } from '../stats.ts';
import { HISTOGRAMS, METRICS } from './all.ts';
import type { HistogramMetric, Metric } from './metric.ts';
import { type SkyDnsNames, writeSkyDnsMetrics } from './skydns.ts';

export interface MetricsOptions {
  /** The version of the program. */
  readonly version: string;
  /** Also write SkyDNS's metrics, under these names. */
  readonly skyDns?: SkyDnsNames | undefined;
}

export class Metrics {
  readonly #stats: () => Stats;
  readonly #skyDns: SkyDnsNames | undefined;
  readonly #registry = new Registry();
  readonly #filled: readonly ((stats: Stats) => void)[];

  constructor({ version, skyDns }: MetricsOptions, stats: () => Stats) {
    this.#stats = stats;
    this.#skyDns = skyDns;
    const info = new Gauge({
      name: 'portolan_build_info',
      help: 'Always 1: the labels say which build this is.',
      labelNames: ['version', 'node'],
      registers: [this.#registry],
    });
    info.set({ version, node: process.version }, 1);
    this.#filled = [
      ...METRICS.flatMap(withFormerName).map((metric) => fillerOf(metric, this.#registry)),
      ...HISTOGRAMS.map((histogram) => histogramFillerOf(histogram, this.#registry)),
    ];
  }

  /** Renders all metrics with current values. */
  async render(): Promise<string> {
    const stats = this.#stats();
    for (const fill of this.#filled) fill(stats);
    const own = await this.#registry.metrics();
    return this.#skyDns === undefined ? own : own + writeSkyDnsMetrics(this.#skyDns, stats.queries);
  }
}

/** A renamed metric, and the same metric under its former name for one release. */
function withFormerName(metric: Metric): readonly Metric[] {
  const { name, formerName } = metric;
  if (formerName === undefined) return [metric];
  return [metric, { ...metric, name: formerName, help: `Former name of ${name}.` }];
}

function fillerOf(metric: Metric, registry: PrometheusRegistry): (stats: Stats) => void {
  const options = {
    name: metric.name,
    help: metric.help,
    labelNames: [...metric.labels],
    registers: [registry],
  };
  if (metric.kind === 'gauge') {
    const gauge = new Gauge(options);
    return (stats) => {
      clear(gauge, metric);
      for (const [labels, value] of metric.read(stats)) gauge.set(labels, value);
    };
  }
  const counter = new Counter(options);
  return (stats) => {
    clear(counter, metric);
    for (const [labels, value] of metric.read(stats)) counter.inc(labels, value);
  };
}

/** Removes all samples. Without labels, a reset would keep one sample of 0. */
function clear(filled: Pick<PrometheusGauge, 'reset' | 'remove'>, { labels }: Metric): void {
  filled.reset();
  if (labels.length === 0) filled.remove();
}

/** The library's histograms observe each value, but these values are counted elsewhere. */
function histogramFillerOf(metric: HistogramMetric, registry: PrometheusRegistry): (stats: Stats) => void {
  const { name, help } = metric;
  let values: readonly object[] = [];
  const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values });
  // The registry uses only the name of a metric, and `get` for its values.
  registry.registerMetric({ name, get } as unknown as PrometheusMetric);
  return (stats) => {
    const { buckets, sum, count } = metric.read(stats);
    const bucket = (le: number | '+Inf', value: number) => ({
      metricName: `${name}_bucket`,
      labels: { le },
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
