/**
 * The metrics of a server. Values are read at each scrape and counted elsewhere.
 */
import type { MetricFamily } from '@portolan/kernel/base/metrics/family.ts';
import { writeFamilies, writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import type { Stats } from '../stats.ts';
import { METRICS } from './all.ts';
import { type Metric, readMetric } from './metric.ts';
import { buildFamily } from './process.ts';
import { type SkyDnsNames, skyDnsFamilies } from './skydns.ts';

export interface MetricsOptions {
  /** The version of the program. */
  readonly version: string;
  /** Also write SkyDNS's metrics, under these names. */
  readonly skyDns?: SkyDnsNames | undefined;
}

const SHOWN_METRICS: readonly Metric[] = METRICS.flatMap(withFormerName);

export class Metrics {
  readonly #options: MetricsOptions;
  readonly #stats: () => Stats;

  constructor(options: MetricsOptions, stats: () => Stats) {
    this.#options = options;
    this.#stats = stats;
  }

  /** Writes all metrics with current values, in the text format of Prometheus. */
  render(): string {
    const stats = this.#stats();
    const { version, skyDns } = this.#options;
    const families = SHOWN_METRICS.map((metric): MetricFamily => {
      const { name, help, type } = metric;
      return { name, help, type, read: () => readMetric(metric, stats) };
    });
    const own = writeFamilies([buildFamily(version), ...families]);
    return skyDns === undefined ? own : own + writeSortedFamilies(skyDnsFamilies(skyDns, stats.queries));
  }
}

/** A renamed metric, and the same metric under its former name for one release. */
function withFormerName(metric: Metric): readonly Metric[] {
  const { name, formerName } = metric;
  if (formerName === undefined) return [metric];
  return [metric, { ...metric, name: formerName, help: `Former name of ${name}.` }];
}
