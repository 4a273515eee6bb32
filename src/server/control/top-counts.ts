/**
 * Exact counts of the queries of an interval, by name, client, namespace and failure.
 */
import type { WatchedQuery } from './watched-queries.ts';

export interface TopRow {
  readonly what: string;
  readonly count: number;
}

const DIMENSIONS = ['rcodes', 'sources', 'names', 'clients', 'namespaces', 'failures'] as const;
type Dimension = (typeof DIMENSIONS)[number];

/** Keys of a dimension; the queries of further ones are counted together. */
const MAX_KEYS = 10_000;
const OTHERS = '(others)';

export class TopCounts {
  #counts = emptyCounts();
  #queries = 0;
  #searched = 0;
  lost = 0;

  add({ rcode, source, name, type, client, namespace, reason, isSearched }: WatchedQuery): void {
    this.#queries += 1;
    if (isSearched) this.#searched += 1;
    this.#count('rcodes', rcode);
    this.#count('sources', source);
    this.#count('names', `${name} ${type}`);
    this.#count('clients', client);
    if (namespace !== undefined) this.#count('namespaces', namespace);
    if (rcode !== 'NOERROR' || reason !== undefined)
      this.#count('failures', `${reason ?? rcode} ${name} ${type}`);
  }

  /** Begins a new interval. @param rows the most frequent of each dimension */
  take(rows: number): Readonly<Record<Dimension, readonly TopRow[]>> & {
    readonly queries: number;
    readonly lost: number;
    readonly searched: number;
  } {
    const top = (dimension: Dimension) =>
      Array.from(this.#counts[dimension], ([what, count]) => ({ what, count }))
        .sort((one, other) => other.count - one.count || one.what.localeCompare(other.what))
        .slice(0, rows);
    const taken = {
      ...{ rcodes: top('rcodes'), sources: top('sources'), names: top('names'), clients: top('clients') },
      ...{ namespaces: top('namespaces'), failures: top('failures') },
      ...{ queries: this.#queries, lost: this.lost },
      searched: this.#queries === 0 ? 0 : this.#searched / this.#queries,
    };
    this.#counts = emptyCounts();
    this.#queries = 0;
    this.#searched = 0;
    this.lost = 0;
    return taken;
  }

  #count(dimension: Dimension, what: string): void {
    const counts = this.#counts[dimension];
    const key = counts.size < MAX_KEYS || counts.has(what) ? what : OTHERS;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}

function emptyCounts(): Record<Dimension, Map<string, number>> {
  return {
    ...{ rcodes: new Map(), sources: new Map(), names: new Map() },
    ...{ clients: new Map(), namespaces: new Map(), failures: new Map() },
  };
}
