/**
 * The verbs that watch queries: `tail` shows them one by one, `top` counts them.
 */
import type { Clock } from '../../base/clock.ts';
import type { ControlOrder } from '../../config/control/control-order.ts';
import type { Server } from '../server.ts';
import type { Explainer } from './explain.ts';
import { SecondBudget } from './second-budget.ts';
import { readUpstreams, type UpstreamStatus } from './status.ts';
import { TopCounts, type TopRow } from './top-counts.ts';
import { inParts, WaitingEvents } from './waiting-events.ts';
import { WatchedQueries } from './watched-queries.ts';

export interface Watcher {
  readonly server: Pick<Server, 'tap' | 'engine'>;
  readonly explainer: Explainer;
  readonly clock: Clock;
}

/** Readers ignore fields that they do not know. */
export interface TopSnapshot {
  readonly seconds: number;
  readonly queries: number;
  /** Queries that were not seen: there were too many. */
  readonly lost: number;
  /** Of all queries, the share that search lists made for nothing: 0 to 1. */
  readonly searched: number;
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
  const queries = new WatchedQueries(explainer, filter, clock);
  const waiting = new WaitingEvents(server.tap, signal);
  try {
    const budget = new SecondBudget(rate, clock);
    for await (const { events, lost } of waiting.batches()) {
      let leftOut = lost;
      for await (const event of inParts(events)) {
        // Beyond the rate an event costs nothing: neither its filters nor its reason are looked at.
        if (budget.isSpent) {
          leftOut += 1;
          continue;
        }
        const described = await queries.describe(event);
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
  { server, explainer, clock }: Watcher,
  signal: AbortSignal,
): AsyncIterable<TopSnapshot> {
  const queries = new WatchedQueries(explainer, filter, clock);
  const counts = new TopCounts();
  const waiting = new WaitingEvents(server.tap, signal);
  let since = clock.monotonic();
  const isDue = () => clock.monotonic() - since >= interval;
  try {
    for await (const { events, lost } of waiting.batches((run) => clock.after(interval, run))) {
      counts.lost += lost;
      for await (const event of inParts(events)) {
        const described = await queries.describe(event);
        if (described !== undefined) counts.add(described);
      }
      if (!isDue()) continue;
      const seconds = (clock.monotonic() - since) / 1000;
      yield { seconds, ...counts.take(rows), upstreams: readUpstreams(server) };
      since = clock.monotonic();
    }
  } finally {
    waiting.end();
  }
}
