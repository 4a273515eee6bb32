/**
 * Counts queries by name, client, namespace and failure, in bounded memory: each with the bounds of its error.
 */
import {
  type CountedKey,
  mergeSummaries,
  SpaceSaving,
  type Summary,
} from '@portolan/server/observe/statistics/space-saving.ts';
import type { WatchedQuery } from './query-stream.ts';

export type TopRow = CountedKey;

const DIMENSIONS = ['rcodes', 'sources', 'names', 'clients', 'namespaces', 'failures'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** What is counted of a query. */
export interface CountedQuery
  extends Pick<WatchedQuery, 'rcode' | 'source' | 'client' | 'namespace' | 'isSearched'> {
  /** The name and the type. */
  readonly question: string;
  /** Why there is no answer, a reason or a response code, and the question. Undefined: there is an answer. */
  readonly failure: string | undefined;
}

/** Counts of some time. */
export interface CountedQueries {
  readonly queries: number;
  /** Queries that were not seen: there were too many. */
  readonly lost: number;
  /** Of all queries, the share that search lists made for nothing: 0 to 1. */
  readonly searched: number;
  /** One query of so many was counted, for as many; 1: all. */
  readonly sampling: number;
  readonly summaries: Readonly<Record<Dimension, Summary>>;
}

/** Keys of each dimension: a share of the queries that is as large as 1 of so many is always found. */
const ROOM_OF_INTERVAL = 1_024;

export class TopCounts {
  readonly #summaries: Readonly<Record<Dimension, SpaceSaving>>;
  #queries = 0;
  #searched = 0;
  #sampling = 1;
  #lost = 0;

  constructor(room = ROOM_OF_INTERVAL) {
    this.#summaries = eachDimension(() => new SpaceSaving(room));
  }

  /** @param weight how many queries it represents */
  add(query: CountedQuery, weight: number): void {
    const counts = this.#summaries;
    this.#queries += weight;
    if (query.isSearched) this.#searched += weight;
    if (weight > this.#sampling) this.#sampling = weight;
    counts.rcodes.add(query.rcode, weight);
    counts.sources.add(query.source, weight);
    counts.names.add(query.question, weight);
    counts.clients.add(query.client, weight);
    if (query.namespace !== undefined) counts.namespaces.add(query.namespace, weight);
    if (query.failure !== undefined) counts.failures.add(query.failure, weight);
  }

  lose(queries: number): void {
    this.#lost += queries;
  }

  /** @param rows of each dimension at most */
  read(rows: number): CountedQueries {
    return {
      queries: this.#queries,
      lost: this.#lost,
      sampling: this.#sampling,
      searched: this.#queries === 0 ? 0 : this.#searched / this.#queries,
      summaries: eachDimension((dimension) => this.#summaries[dimension].read(rows)),
    };
  }

  clear(): void {
    for (const dimension of DIMENSIONS) this.#summaries[dimension].clear();
    this.#queries = 0;
    this.#searched = 0;
    this.#sampling = 1;
    this.#lost = 0;
  }
}

/** Counts of several times, or of several servers, as one. @param rows of each dimension at most */
export function mergeCounts(counts: readonly CountedQueries[], rows: number): CountedQueries {
  const sum = (value: (each: CountedQueries) => number) =>
    counts.reduce((total, each) => total + value(each), 0);
  const queries = sum((each) => each.queries);
  return {
    queries,
    lost: sum((each) => each.lost),
    searched: queries === 0 ? 0 : sum((each) => each.searched * each.queries) / queries,
    sampling: counts.reduce((highest, each) => Math.max(highest, each.sampling), 1),
    summaries: eachDimension((dimension) =>
      mergeSummaries(
        counts.map(({ summaries }) => summaries[dimension]),
        rows,
      ),
    ),
  };
}

export function eachDimension<Value>(
  make: (dimension: Dimension) => Value,
): Readonly<Record<Dimension, Value>> {
  return {
    rcodes: make('rcodes'),
    sources: make('sources'),
    names: make('names'),
    clients: make('clients'),
    namespaces: make('namespaces'),
    failures: make('failures'),
  };
}
