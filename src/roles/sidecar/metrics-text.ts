/**
 * Metrics in the text format of Prometheus, written by hand: the library for it takes as much memory as all of the sidecar.
 */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly TextSample[];
}

/** What follows the name of the family, labels included (`_bucket{le="1"}`), and the value. */
export type TextSample = readonly [suffix: string, value: number];

/** In the order of their names. */
export function writeMetrics(families: readonly MetricFamily[]): string {
  return families
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(writeFamily)
    .join('');
}

function writeFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(([suffix, value]) => `${name}${suffix} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
