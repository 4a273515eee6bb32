/**
 * Families whose values are counted here: counters, gauges and histograms.
 */
import { distributionSamples, type Labels, type MetricFamily, type Sample } from './family.ts';

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export interface FamilyTerms {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** A value for each combination of label values, in the order of their first use. */
export class SeriesTable {
  readonly #terms: FamilyTerms;
  readonly #rows = new Map<string, { labels: Labels; value: number }>();

  /** @throws Error for a name that Prometheus does not accept */
  constructor(terms: FamilyTerms) {
    this.#terms = terms;
    const { name, labels } = terms;
    if (!METRIC_NAME.test(name))
      throw new Error(`bad name of a metric: ${name}. Use letters, digits, "_" and ":".`);
    const bad = labels.find((label) => !LABEL_NAME.test(label));
    if (bad !== undefined) throw new Error(`bad label of ${name}: ${bad}. Use letters, digits and "_".`);
  }

  /** @throws Error for a label that the family does not have */
  row(labels: Labels): { value: number } {
    const key = this.#toKey(labels);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row = { labels, value: 0 };
    this.#rows.set(key, row);
    return row;
  }

  /** @throws Error for a label that the family does not have */
  remove(labels: Labels): void {
    this.#rows.delete(this.#toKey(labels));
  }

  clear(): void {
    this.#rows.clear();
  }

  read(): readonly Sample[] {
    return Array.from(this.#rows.values(), ({ labels, value }) => [labels, value]);
  }

  #toKey(labels: Labels): string {
    const { name, labels: declared } = this.#terms;
    for (const label in labels)
      if (!declared.includes(label))
        throw new Error(`unknown label of ${name}: ${label}. It has: ${declared.join(', ')}.`);
    let key = '';
    for (const label of declared) key += `${Object.hasOwn(labels, label) ? labels[label] : ''}\0`;
    return key;
  }
}

/** A count that never falls. */
export class Counter implements MetricFamily {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly #series: SeriesTable;

  /** Without labels it shows 0 from now on. */
  constructor(terms: FamilyTerms) {
    this.name = terms.name;
    this.help = terms.help;
    this.#series = new SeriesTable(terms);
    if (terms.labels.length === 0) this.#series.row({});
  }

  /** @throws Error for an unknown label, and for a number that is negative or not finite */
  inc(labels: Labels = {}, times = 1): void {
    this.#add(this.#series.row(labels), times);
  }

  /** The same for labels that are used often: looks them up once. The series appears with its first count. */
  series(labels: Labels): (times: number) => void {
    let row: { value: number } | undefined;
    return (times) => {
      row ??= this.#series.row(labels);
      this.#add(row, times);
    };
  }

  read(): readonly Sample[] {
    return this.#series.read();
  }

  #add(row: { value: number }, times: number): void {
    if (!(times >= 0 && times < Number.POSITIVE_INFINITY))
      throw new Error(`bad increment of ${this.name}: ${times}. A counter only rises.`);
    row.value += times;
  }
}

/** A value that rises and falls. */
export class Gauge implements MetricFamily {
  readonly type = 'gauge';
  readonly name: string;
  readonly help: string;
  readonly #series: SeriesTable;
  readonly #isSingle: boolean;

  /** Without labels it shows 0 from now on. */
  constructor(terms: FamilyTerms) {
    this.name = terms.name;
    this.help = terms.help;
    this.#series = new SeriesTable(terms);
    this.#isSingle = terms.labels.length === 0;
    this.reset();
  }

  /** @throws Error for an unknown label */
  set(labels: Labels, value: number): void {
    this.#series.row(labels).value = value;
  }

  /** Removes a series. @throws Error for an unknown label */
  remove(labels: Labels): void {
    this.#series.remove(labels);
  }

  /** Removes all series; the value of a gauge without labels becomes 0. */
  reset(): void {
    this.#series.clear();
    if (this.#isSingle) this.#series.row({});
  }

  read(): readonly Sample[] {
    return this.#series.read();
  }
}

/** Equal for equal labels, in whatever order they stand. */
function toSeriesKey(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}\0${value}`);
  return pairs.sort().join('\0');
}

interface HistogramRow {
  readonly labels: Labels;
  /** By bucket, not cumulative; values above the last bound at the end. */
  readonly counts: number[];
  count: number;
  sum: number;
}

/** Takes many equal observations at once too: readers count by themselves, and their counts are collected now and then. */
export class Histogram implements MetricFamily {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #rows = new Map<string, HistogramRow>();

  /** @param bounds upper ends of the buckets, in order */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  /** @param times how often the value was observed */
  observe(labels: Labels, value: number, times = 1): void {
    this.#observe(this.#row(labels), value, times);
  }

  /** The same for labels that are used often: looks them up once. The series appears with its first value. */
  series(labels: Labels): (value: number) => void {
    let row: HistogramRow | undefined;
    return (value) => {
      row ??= this.#row(labels);
      this.#observe(row, value, 1);
    };
  }

  /**
   * Takes observations that were counted elsewhere.
   *
   * @param counts by bucket, not cumulative; values above the last bound at the end
   * @param sum of all values
   */
  add(labels: Labels, counts: readonly number[], sum: number): void {
    const row = this.#row(labels);
    for (const [bucket, count] of counts.entries()) {
      row.counts[bucket] = (row.counts[bucket] ?? 0) + count;
      row.count += count;
    }
    row.sum += sum;
  }

  read(): readonly Sample[] {
    return [...this.#rows.values()].flatMap(({ labels, counts, count, sum }) => {
      let below = 0;
      const buckets = this.#bounds.map((bound, index) => {
        below += counts[index] ?? 0;
        return [bound, below] as const;
      });
      return distributionSamples(labels, { buckets, sum, count });
    });
  }

  #row(labels: Labels): HistogramRow {
    const key = toSeriesKey(labels);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row = { labels, counts: new Array<number>(this.#bounds.length + 1).fill(0), count: 0, sum: 0 };
    this.#rows.set(key, row);
    return row;
  }

  #observe(row: HistogramRow, value: number, times: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found < 0 ? this.#bounds.length : found;
    row.counts[bucket] = (row.counts[bucket] ?? 0) + times;
    row.count += times;
    row.sum += value * times;
  }
}
