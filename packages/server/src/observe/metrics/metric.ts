/**
 * The definition of a metric: its name, its meaning, and how to read it from the statistics.
 *
 * An unavailable value has no sample, because absent differs from zero.
 */
import { SeriesTable } from '@portolan/kernel/base/metrics/counted-families.ts';
import type { MetricFamily, Sample } from '@portolan/kernel/base/metrics/family.ts';
import type { Stats } from '../stats.ts';

export interface Metric extends Pick<MetricFamily, 'name' | 'help'> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** The former name, under which it is also shown for one release. */
  readonly formerName?: string;
  /** Without `le` of a histogram. */
  readonly labels: readonly string[];
  readonly read: (stats: Stats) => Iterable<Sample>;
}

export const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

/** The samples of a metric. Of those with the same labels, counts add up, and the last gauge wins. */
export function readMetric(metric: Metric, stats: Stats): Iterable<Sample> {
  if (metric.type === 'histogram') return metric.read(stats);
  const series = new SeriesTable(metric);
  for (const [labels, value] of metric.read(stats)) {
    const row = series.row(labels);
    row.value = metric.type === 'counter' ? row.value + value : value;
  }
  return series.read();
}
