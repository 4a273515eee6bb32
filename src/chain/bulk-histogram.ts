/**
 * A histogram that takes many equal observations at once: readers count by themselves, and their counts are collected now and then.
 */
import type { MetricValueWithName, Registry } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

interface Row {
  readonly key: string;
  readonly labels: Labels;
  /** By bucket, not cumulative; values above the last bound at the end. */
  readonly counts: number[];
  count: number;
  sum: number;
}

export class BulkHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #bounds: readonly number[];
  readonly #rows = new Map<string, Row>();

  /** @param bounds upper ends of the buckets, in order */
  constructor(name: string, help: string, bounds: readonly number[], registry: Registry) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
    // The registry only asks metrics for their values.
    registry.registerMetric(this as unknown as Parameters<Registry['registerMetric']>[0]);
  }

  /** @param times how often the value was observed */
  observe(labels: Labels, value: number, times = 1): void {
    this.#observe(this.#rowOf(labels), value, times);
  }

  /** The same for labels that are used often: looks them up once. */
  observer(labels: Labels): (value: number) => void {
    // Created by the first value: a family shows only labels with observations.
    let row: Row | undefined;
    return (value) => {
      if (row === undefined || !this.#rows.has(row.key)) row = this.#rowOf(labels);
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
    const row = this.#rowOf(labels);
    for (const [bucket, count] of counts.entries()) {
      row.counts[bucket] = (row.counts[bucket] ?? 0) + count;
      row.count += count;
    }
    row.sum += sum;
  }

  #rowOf(labels: Labels): Row {
    const key = Object.values(labels).join('\n');
    const row = this.#rows.get(key) ?? {
      key,
      labels,
      counts: new Array<number>(this.#bounds.length + 1).fill(0),
      ...{ count: 0, sum: 0 },
    };
    this.#rows.set(key, row);
    return row;
  }

  #observe(row: Row, value: number, times: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found < 0 ? this.#bounds.length : found;
    row.counts[bucket] = (row.counts[bucket] ?? 0) + times;
    row.count += times;
    row.sum += value * times;
  }

  /** For the registry. */
  get() {
    const { name, help, type, aggregator } = this;
    return {
      name,
      help,
      type,
      aggregator,
      values: [...this.#rows.values()].flatMap((row) => this.#valuesOf(row)),
    };
  }

  reset(): void {
    this.#rows.clear();
  }

  #valuesOf({ labels, counts, count, sum }: Row): readonly MetricValueWithName<string>[] {
    let below = 0;
    const buckets = counts.map((more, index) => {
      below += more;
      const le = this.#bounds[index] ?? '+Inf';
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
