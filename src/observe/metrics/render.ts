/**
 * Figures in the text format of Prometheus. They are read when they are asked for; nothing is counted here.
 */
import { Counter, Gauge, Registry } from 'prom-client';
import type { Figures } from '../figures.ts';
import { METRICS } from './all.ts';
import type { Metric } from './metric.ts';

export interface Build {
  readonly version: string;
}

export class Metrics {
  readonly #figures: () => Figures;
  readonly #registry = new Registry();
  readonly #filled: readonly ((figures: Figures) => void)[];

  constructor(build: Build, figures: () => Figures) {
    this.#figures = figures;
    const info = new Gauge({
      name: 'portolan_build_info',
      help: 'Always 1: the labels say which build this is.',
      labelNames: ['version', 'node'],
      registers: [this.#registry],
    });
    info.set({ version: build.version, node: process.version }, 1);
    this.#filled = METRICS.map((metric) => fillerOf(metric, this.#registry));
  }

  /** All of them, as they stand now. */
  async render(): Promise<string> {
    const figures = this.#figures();
    for (const fill of this.#filled) fill(figures);
    return this.#registry.metrics();
  }
}

function fillerOf(metric: Metric, registry: Registry): (figures: Figures) => void {
  const options = {
    name: metric.name,
    help: metric.help,
    labelNames: [...metric.labels],
    registers: [registry],
  };
  if (metric.kind === 'gauge') {
    const gauge = new Gauge(options);
    return (figures) => {
      clear(gauge, metric);
      for (const [labels, value] of metric.read(figures)) gauge.set(labels, value);
    };
  }
  const counter = new Counter(options);
  return (figures) => {
    clear(counter, metric);
    for (const [labels, value] of metric.read(figures)) counter.inc(labels, value);
  };
}

/** Leaves no sample. A reset alone makes one of 0 where there are no labels. */
function clear(filled: Pick<Gauge, 'reset' | 'remove'>, { labels }: Metric): void {
  filled.reset();
  if (labels.length === 0) filled.remove();
}
