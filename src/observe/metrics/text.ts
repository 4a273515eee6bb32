/**
 * The text format of Prometheus, version 0.0.4.
 */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly samples: readonly TextSample[];
}

/** The suffix of the family's name, labels included (`_bucket{le="1"}`), and the value. */
export type TextSample = readonly [suffix: string, value: number];

/** A distribution: the number of values up to each bound, in ascending order. */
export interface Distribution {
  readonly buckets: readonly (readonly [upperEnd: number, countUpToIt: number])[];
  readonly sum: number;
  readonly count: number;
}

/** Writes families sorted by name; those without samples are left out. */
export function writeMetrics(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(writeFamily)
    .join('');
}

function writeFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(([suffix, value]) => `${name}${suffix} ${writeNumber(value)}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** `{system="auth"}`; empty without labels. */
export function writeLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join()}}`;
}

/** The samples of one series of a histogram. */
export function histogramSamples(
  labels: Readonly<Record<string, string>>,
  { buckets, sum, count }: Distribution,
): readonly TextSample[] {
  const bucket = (le: number, below: number): TextSample => [
    `_bucket${writeLabels({ ...labels, le: writeNumber(le) })}`,
    below,
  ];
  return [
    ...buckets.map(([upperEnd, below]) => bucket(upperEnd, below)),
    bucket(Number.POSITIVE_INFINITY, count),
    [`_sum${writeLabels(labels)}`, sum],
    [`_count${writeLabels(labels)}`, count],
  ];
}

function writeNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
