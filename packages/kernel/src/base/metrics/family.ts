/**
 * A family of metrics in Prometheus's data model: a name, a help text, a type, and samples that are read at each scrape.
 */

/** A label with an empty value is the same as no label. */
export type Labels = Readonly<Record<string, string>>;

/** What follows the name of the family in a sample of a histogram or a summary. */
export type SampleSuffix = '_bucket' | '_sum' | '_count';

export type Sample = readonly [labels: Labels, value: number, suffix?: SampleSuffix | undefined];

export type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  /** The samples of now. No two of them have the same labels and suffix. */
  read(): Iterable<Sample>;
}

/** A distribution: the number of values up to each bound, in ascending order. */
export interface Distribution {
  readonly buckets: readonly (readonly [upperEnd: number, countUpToIt: number])[];
  readonly sum: number;
  readonly count: number;
}

/** One value without labels, or no sample: an unavailable value differs from 0. */
export const one = (value: number | undefined): readonly Sample[] =>
  value === undefined ? [] : [[{}, value]];

/** A family with at most one sample. */
export function singleFamily(
  type: MetricType,
  name: string,
  help: string,
  value: number | undefined,
): MetricFamily {
  return { name, help, type, read: () => one(value) };
}

/**
 * The samples of one series of a histogram.
 *
 * @param labelsOfBucket the labels of a bucket with this upper end
 */
export function distributionSamples(
  labels: Labels,
  { buckets, sum, count }: Distribution,
  labelsOfBucket: (le: string) => Labels = (le) => ({ le, ...labels }),
): readonly Sample[] {
  return [
    ...buckets.map(([end, below]): Sample => [labelsOfBucket(formatNumber(end)), below, '_bucket']),
    [labelsOfBucket('+Inf'), count, '_bucket'],
    [labels, sum, '_sum'],
    [labels, count, '_count'],
  ];
}

/** A number as the text format and the label `le` have it. */
export function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
