/**
 * The definition of a metric: its name, its meaning, and how to read it from the statistics.
 *
 * An unavailable value has no sample, because absent differs from zero.
 */
import type { Stats } from '../stats.ts';

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

export interface Metric {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  /** The former name, under which it is also shown for one release. */
  readonly formerName?: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: (stats: Stats) => Iterable<Sample>;
}

/** A distribution counted elsewhere, in cumulative buckets. */
export interface HistogramMetric {
  readonly name: string;
  readonly help: string;
  readonly read: (stats: Stats) => {
    readonly buckets: readonly (readonly [upperEnd: number, count: number])[];
    readonly sum: number;
    readonly count: number;
  };
}

/** One value without labels, or no sample. */
export const one = (value: number | undefined): readonly Sample[] =>
  value === undefined ? [] : [[{}, value]];

export const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;
