/**
 * A registry of metrics: each family is created at its first use and stays, so that counters keep their values when plans change.
 */
import { Counter, type FamilyTerms, Gauge, Histogram } from './counted-families.ts';
import type { MetricFamily } from './family.ts';
import { writeFamilies } from './text-format.ts';

export class MetricRegistry {
  readonly #families = new Map<string, MetricFamily>();
  readonly #collects = new Set<() => void>();

  /**
   * The family of this name, created at its first use. A family without labels shows 0 from then on.
   *
   * @throws Error if the name is bad, or that of a family of another type
   */
  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.#find(Counter, { name, help, labels });
  }

  /** The same for a value that rises and falls. */
  gauge(name: string, help: string, labels: readonly string[] = []): Gauge {
    return this.#find(Gauge, { name, help, labels });
  }

  /** The same for a distribution. @param buckets upper bounds, in order */
  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    const known = this.#families.get(name);
    if (known instanceof Histogram) return known;
    return this.#add(known, new Histogram(name, help, buckets));
  }

  /** Calls `collect` before metrics are shown, to add counts made elsewhere. @returns a function that ends this */
  collectBy(collect: () => void): () => void {
    this.#collects.add(collect);
    return () => void this.#collects.delete(collect);
  }

  /** All families in the order of their creation, with the counts of now. */
  families(): readonly MetricFamily[] {
    for (const collect of this.#collects) collect();
    return [...this.#families.values()];
  }

  /** In the text format of Prometheus. */
  render(): string {
    return writeFamilies(this.families());
  }

  #find<Kind extends MetricFamily>(kind: new (terms: FamilyTerms) => Kind, terms: FamilyTerms): Kind {
    const known = this.#families.get(terms.name);
    return known instanceof kind ? known : this.#add(known, new kind(terms));
  }

  #add<Kind extends MetricFamily>(known: MetricFamily | undefined, family: Kind): Kind {
    const { name, type } = family;
    if (known !== undefined)
      throw new Error(`two metrics with one name: ${name}: a ${known.type} and a ${type}. Rename one.`);
    this.#families.set(name, family);
    return family;
  }
}
