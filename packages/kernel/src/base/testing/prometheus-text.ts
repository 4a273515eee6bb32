/**
 * A strict parser of the Prometheus text format, version 0.0.4. It accepts only what every scraper accepts: valid names and labels, one
 * HELP and one TYPE before the samples of a family, contiguous families, no duplicate samples, and complete, cumulative histograms.
 */
export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped';

export interface Sample {
  /** Including the suffix: `x_bucket`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: FamilyType;
  readonly samples: readonly Sample[];
}

export class PrometheusTextError extends Error {
  override readonly name = 'PrometheusTextError';
  /** From 1. */
  readonly line: number;

  constructor(line: number, what: string, text: string) {
    super(`not Prometheus text: line ${line}: ${what}: ${text}`);
    this.line = line;
  }
}

interface Draft {
  readonly name: string;
  readonly line: number;
  help: string | undefined;
  type: FamilyType | undefined;
  readonly samples: Sample[];
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const TYPES: readonly string[] = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/y;
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i;
const SUFFIXES: Readonly<Partial<Record<FamilyType, readonly string[]>>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * Parses a text to its families, by name.
 *
 * @throws PrometheusTextError
 */
export function parsePrometheusText(text: string): ReadonlyMap<string, Family> {
  if (text.length > 0 && !text.endsWith('\n'))
    throw new PrometheusTextError(0, 'the last line has no end', text.slice(-40));
  const drafts = new Map<string, Draft>();
  let current: Draft | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const number = index + 1;
    const name = line.startsWith('#') ? readComment(line, number, drafts) : undefined;
    if (name !== undefined) current = drafts.get(name);
    else if (!line.startsWith('#')) addSample(line, number, current);
  }
  return new Map(Array.from(drafts.values(), (draft) => [draft.name, finish(draft)]));
}

/** @returns the family of the following lines; undefined for a plain comment */
function readComment(line: string, number: number, drafts: Map<string, Draft>): string | undefined {
  const [, keyword, name = '', ...rest] = line.split(' ');
  if (keyword !== 'HELP' && keyword !== 'TYPE') return undefined;
  if (!METRIC_NAME.test(name)) throw new PrometheusTextError(number, 'bad name', line);
  const known = drafts.get(name);
  if (known !== undefined && [...drafts.keys()].at(-1) !== name)
    throw new PrometheusTextError(number, 'a family in two pieces', line);
  const draft = known ?? { name, line: number, help: undefined, type: undefined, samples: [] };
  drafts.set(name, draft);
  if (draft.samples.length > 0) throw new PrometheusTextError(number, `${keyword} behind samples`, line);
  const value = rest.join(' ');
  if (keyword === 'HELP') {
    if (draft.help !== undefined) throw new PrometheusTextError(number, 'a second HELP', line);
    if (/\\(?![\\n])/.test(value.replaceAll('\\\\', '')))
      throw new PrometheusTextError(number, 'bad escape', line);
    draft.help = value;
  } else {
    if (draft.type !== undefined) throw new PrometheusTextError(number, 'a second TYPE', line);
    if (!TYPES.includes(value)) throw new PrometheusTextError(number, 'unknown type', line);
    draft.type = value as FamilyType; // Checked above.
  }
  return name;
}

function addSample(line: string, number: number, draft: Draft | undefined): void {
  const [, name = '', labelText, value = ''] = SAMPLE.exec(line) ?? [];
  if (name === '') throw new PrometheusTextError(number, 'not a sample', line);
  if (draft?.type === undefined || draft.help === undefined)
    throw new PrometheusTextError(number, 'a sample before its HELP and TYPE', line);
  const suffixes = SUFFIXES[draft.type] ?? [''];
  if (!suffixes.some((suffix) => name === `${draft.name}${suffix}`))
    throw new PrometheusTextError(number, `a sample that is not of ${draft.name}`, line);
  if (!NUMBER.test(value)) throw new PrometheusTextError(number, 'not a number', line);
  const labels = readLabels(labelText, number, line);
  const key = seriesKey({ name, labels });
  if (draft.samples.some((other) => seriesKey(other) === key))
    throw new PrometheusTextError(number, 'the same series twice', line);
  draft.samples.push({ name, labels, value: toNumber(value) });
}

function readLabels(
  text: string | undefined,
  number: number,
  line: string,
): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const [, name = '', value = ''] = LABEL.exec(text) ?? [];
    if (name === '') throw new PrometheusTextError(number, `bad label at ${at}`, line);
    if (name in labels) throw new PrometheusTextError(number, `label ${name} twice`, line);
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

function finish({ name, line, help, type, samples }: Draft): Family {
  if (help === undefined || type === undefined)
    throw new PrometheusTextError(line, 'HELP or TYPE is missing', name);
  const family = { name, help, type, samples };
  const problem = type === 'histogram' ? histogramProblem(family) : valueProblem(family);
  if (problem !== undefined) throw new PrometheusTextError(line, problem, name);
  return family;
}

function valueProblem({ type, samples }: Family): string | undefined {
  return type === 'counter' && samples.some(({ value }) => !(value >= 0)) ? 'a counter below 0' : undefined;
}

function histogramProblem({ name, samples }: Family): string | undefined {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = seriesKey({ name, labels });
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, own] of series) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const ends = buckets.map(({ labels }) => toNumber(labels['le'] ?? 'NaN'));
    const count = own.find((sample) => sample.name === `${name}_count`)?.value;
    const sum = own.find((sample) => sample.name === `${name}_sum`)?.value;
    if (count === undefined || sum === undefined) return `${key} has no sum or no count`;
    if (ends.at(-1) !== Number.POSITIVE_INFINITY) return `${key} has no last bucket +Inf`;
    if (!grows(ends, true)) return `${key} has buckets out of order`;
    if (
      !grows(
        buckets.map(({ value }) => value),
        false,
      )
    )
      return `${key} has a bucket below the one before`;
    if (buckets.at(-1)?.value !== count) return `${key} has another count than +Inf`;
  }
  return undefined;
}

function grows(values: readonly number[], strictly: boolean): boolean {
  return values.every((value, index) => {
    const before = values[index - 1];
    if (Number.isNaN(value)) return false;
    return before === undefined || (strictly ? before < value : before <= value);
  });
}

/** The identity of a series: its name and labels, independent of label order. */
export function seriesKey({ name, labels }: Pick<Sample, 'name' | 'labels'>): string {
  const pairs = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  return `${name}{${pairs.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join()}}`;
}

function toNumber(text: string): number {
  const lower = text.toLowerCase();
  if (lower.endsWith('inf'))
    return lower.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}
