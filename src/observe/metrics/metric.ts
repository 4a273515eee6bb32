/**
 * What a metric is: its name, what it means, and which figure it shows.
 *
 * A figure that is not to be had now has no sample: an absent value is not a zero.
 */
import type { Figures } from '../figures.ts';

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

export interface Metric {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: (figures: Figures) => Iterable<Sample>;
}

/** How values lie: counted elsewhere, by upper ends that include all below. */
export interface HistogramMetric {
  readonly name: string;
  readonly help: string;
  readonly read: (figures: Figures) => {
    readonly buckets: readonly (readonly [upperEnd: number, count: number])[];
    readonly sum: number;
    readonly count: number;
  };
}

/** One value without labels, or none. */
export const one = (value: number | undefined): readonly Sample[] =>
  value === undefined ? [] : [[{}, value]];

export const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;
