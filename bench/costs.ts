/**
 * Costs of servers that take turns with the same questions: one turn, the table, the goals.
 */
import { type Cost, type Load, measureCost } from './dnsperf.ts';
import { type Goal, printSummary, type Table } from './report.ts';
import type { Turns } from './rounds.ts';
import type { DnsServer } from './servers/server.ts';
import { summarize } from './statistics.ts';
import type { Workplace } from './workplace.ts';

export interface Contestant extends DnsServer {
  /** How many times its cost ours may be at most. */
  readonly goal?: number;
}

export type CostTurns = readonly Turns<Contestant, Cost>[];

/** @param rate queries a second at most; as many as the server answers if undefined */
export async function measureTurn(
  { seconds, say }: Workplace,
  { name, port, process }: Contestant,
  questions: string,
  rate: number | undefined,
  outstanding?: number,
): Promise<Cost> {
  const load: Load = { port, questions, seconds, ...(rate && { rate }), ...(outstanding && { outstanding }) };
  const cost = await measureCost(process.pid, load);
  say(
    `${name}: ${cost.perQuery.toFixed(2)} us a query, ${Math.round(cost.queriesPerSecond)} a second, ${cost.lost} lost`,
  );
  return cost;
}

function medianCost(results: readonly Cost[]): number {
  return summarize(results.map(({ perQuery }) => perQuery)).median;
}

/** Ours, the first, against each that has a goal. */
export function judgeCosts([ours, ...others]: CostTurns, circumstances = ''): readonly Goal[] {
  if (ours === undefined) return [];
  return others.flatMap(({ subject, results }) =>
    subject.goal === undefined
      ? []
      : {
          what: `cost per query against ${subject.name}${circumstances}`,
          value: medianCost(ours.results) / medianCost(results),
          limit: subject.goal,
          unit: 'times',
        },
  );
}

export function printCosts(title: string, turns: CostTurns): Table {
  const rows = turns.map(({ subject, results }) => [
    subject.name,
    printSummary(summarize(results.map(({ perQuery }) => perQuery)), 2),
    summarize(results.map(({ queriesPerSecond }) => queriesPerSecond)).median.toFixed(0),
    summarize(results.map(({ latency }) => latency)).median.toFixed(0),
    String(results.reduce((sum, { lost }) => sum + lost, 0)),
  ]);
  return { title, columns: ['', 'us per query', 'queries a second', 'latency us', 'lost'], rows };
}

export function listCosts(turns: CostTurns): unknown {
  return turns.map(({ subject, results }) => ({
    server: subject.name,
    rounds: results.map(({ threads, ...cost }) => ({ ...cost, threads: [...threads.values()] })),
  }));
}
