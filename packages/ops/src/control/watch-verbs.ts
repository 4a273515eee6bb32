/**
 * The verbs that watch queries: `tail` shows them one by one, `top` counts them.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Server } from '@portolan/server/server.ts';
import type { Explainer } from './explain.ts';
import { explainFailures } from './failure-reasons.ts';
import type { QueryStatistics } from './query-statistics.ts';
import { QueryStream, type WatchedQuery } from './query-stream.ts';
import { searchRows, subtractCounts } from './search-counts.ts';
import { SecondBudget } from './second-budget.ts';
import { findNamespaceTest } from './served-domain.ts';
import type { ControlOrder, EventFilter } from './settings/control-order.ts';
import { readUpstreams, type UpstreamStatus } from './status.ts';
import {
  type CountedQueries,
  type CountedQuery,
  type Dimension,
  eachDimension,
  TopCounts,
  type TopRow,
} from './top-counts.ts';
import { inParts, WaitingEvents } from './waiting-events.ts';

export interface Watcher {
  readonly server: Pick<Server, 'tap' | 'engine'>;
  readonly explainer: Explainer;
  readonly clock: Clock;
  /** What was counted before somebody looked; undefined: nothing was. */
  readonly statistics: () => QueryStatistics | undefined;
}

/** Readers ignore fields that they do not know. Counts of rows have bounds, see `CountedKey`. */
export interface TopSnapshot {
  /** Whether it is about the time before this request. */
  readonly isPast: boolean;
  readonly seconds: number;
  readonly queries: number;
  /** Queries that were not seen: there were too many. */
  readonly lost: number;
  /** One query of so many was counted, for as many; 1: all. The highest of the interval. */
  readonly sampling: number;
  /** Of all queries, the share that search lists made for nothing: 0 to 1. */
  readonly searched: number;
  /** By the namespace of the pod, the names that its search list made. Exact, and without the filter. */
  readonly searches: readonly TopRow[];
  /** Of each table, how often anything that it lacks came at most. */
  readonly unlisted: Readonly<Record<Dimension, number>>;
  readonly rcodes: readonly TopRow[];
  readonly sources: readonly TopRow[];
  readonly names: readonly TopRow[];
  readonly clients: readonly TopRow[];
  readonly namespaces: readonly TopRow[];
  /** By reason and name. */
  readonly failures: readonly TopRow[];
  readonly upstreams: readonly UpstreamStatus[];
}

export async function* tail(
  { filter, rate }: Extract<ControlOrder, { kind: 'tail' }>,
  { server, explainer, clock }: Watcher,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  const queries = new QueryStream(explainer, filter, clock);
  const waiting = new WaitingEvents((listener) => server.tap.follow(listener), signal);
  try {
    const budget = new SecondBudget(rate, clock);
    for await (const { events, lost } of waiting.batches()) {
      const { domain } = explainer;
      let leftOut = lost;
      for await (const event of inParts(events)) {
        // Beyond the rate an event costs nothing: neither its filters nor its reason are looked at.
        if (budget.isSpent) {
          leftOut += 1;
          continue;
        }
        const described = await queries.describe(event, domain);
        if (described === undefined) continue;
        budget.spend();
        yield described;
      }
      if (leftOut > 0) yield { lost: leftOut };
    }
  } finally {
    waiting.end();
  }
}

export async function* top(
  { filter, interval, rows }: Extract<ControlOrder, { kind: 'top' }>,
  { server, explainer, clock, statistics }: Watcher,
  signal: AbortSignal,
): AsyncIterable<TopSnapshot> {
  const { domain } = explainer;
  const kept = selectsAll(filter) ? statistics()?.read(rows) : undefined;
  const upstreams = () => readUpstreams(server);
  if (kept !== undefined) {
    const counted = await explainFailures(kept, explainer);
    const isNamespace = findNamespaceTest(server);
    yield makeSnapshot(counted, { ...kept, isPast: true, rows, isNamespace, upstreams: upstreams() });
  }
  const queries = new QueryStream(explainer, filter, clock);
  const counts = new TopCounts();
  const waiting = new WaitingEvents((listener) => server.tap.sample(listener, domain), signal);
  let since = clock.monotonic();
  let searches = new Map(server.tap.searches);
  const isDue = () => clock.monotonic() - since >= interval;
  try {
    for await (const { events, lost } of waiting.batches((run) => clock.after(interval, run))) {
      counts.lose(lost);
      const { domain: served } = explainer;
      const isNamespace = findNamespaceTest(server);
      for await (const event of inParts(events)) {
        const described = await queries.describe(event, served);
        if (described !== undefined) counts.add(toCountedQuery(described, isNamespace), event.weight);
      }
      if (!isDue()) continue;
      const seconds = (clock.monotonic() - since) / 1000;
      const grown = subtractCounts(server.tap.searches, searches);
      yield makeSnapshot(counts.read(rows), {
        isPast: false,
        seconds,
        searches: grown,
        rows,
        isNamespace: findNamespaceTest(server),
        upstreams: upstreams(),
      });
      counts.clear();
      searches = new Map(server.tap.searches);
      since = clock.monotonic();
    }
  } finally {
    waiting.end();
  }
}

/** An answer with records has no cause, and is no failure. */
function toCountedQuery(query: WatchedQuery, isNamespace: (label: string) => boolean): CountedQuery {
  const { name, type, rcode, reason, namespace: label } = query;
  const namespace = label !== undefined && isNamespace(label) ? label : undefined;
  const question = `${name} ${type}`;
  const cause = reason ?? (rcode === 'NOERROR' ? undefined : rcode);
  return { ...query, namespace, question, failure: cause && `${cause} ${question}` };
}

function selectsAll(filter: EventFilter): boolean {
  return Object.values(filter).every((values: readonly unknown[]) => values.length === 0);
}

function makeSnapshot(
  { summaries, queries, lost, sampling, searched }: CountedQueries,
  about: Pick<TopSnapshot, 'isPast' | 'seconds' | 'upstreams'> & {
    readonly searches: ReadonlyMap<string, number>;
    readonly rows: number;
    readonly isNamespace: (label: string) => boolean;
  },
): TopSnapshot {
  const { isPast, seconds, searches, rows, isNamespace, upstreams } = about;
  const { rcodes, sources, names, clients, namespaces, failures } = summaries;
  return {
    isPast,
    seconds,
    queries,
    lost,
    sampling,
    searched,
    searches: searchRows(searches, rows, isNamespace),
    unlisted: eachDimension((dimension) => summaries[dimension].unlisted),
    rcodes: rcodes.rows,
    sources: sources.rows,
    names: names.rows,
    clients: clients.rows,
    namespaces: namespaces.rows,
    failures: failures.rows,
    upstreams,
  };
}
