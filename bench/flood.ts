/**
 * The effect of a flood of names that do not exist on other clients: the latency of table hits without it, with it, and while
 * a second server is flooded in the same way. The last case shows the effect of a busy machine by itself.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { putLoad } from './dnsperf.ts';
import { measureLatencies } from './latencies.ts';
import { readMemory } from './memory.ts';
import { listKnownNames, listNewNames, saveLines } from './outside.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { type Turns, takeTurns } from './rounds.ts';
import { EXAMPLE_NAMES, startPortolanResolver } from './servers/portolan-resolver.ts';
import type { DnsServer } from './servers/server.ts';
import { startUpstream } from './servers/upstream.ts';
import { percentile, summarize } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const HITS_PER_SECOND = 2_000;
const CACHED_NAMES = 250;
const GOAL_TIMES = 2;
/** The flood begins before the hits and ends after them. */
const LEAD_SECONDS = 1;

interface Circumstances {
  readonly name: string;
  /** Port of the server that is flooded. */
  readonly flooded: number | undefined;
}

interface HitStats {
  /** Microseconds. */
  readonly median: number;
  readonly p99: number;
  readonly lost: number;
  /** Queries of the flood that were answered, in a second. */
  readonly floodRate: number;
  /** Mebibytes, after the turn. */
  readonly resident: number;
}

type FloodTurns = readonly Turns<Circumstances, HitStats>[];

export async function measureFlood(workplace: Workplace): Promise<Report> {
  const servers: DnsServer[] = [await startUpstream(workplace)];
  try {
    const upstreamPort = servers[0]?.port ?? 0;
    const ours = await startPortolanResolver(workplace, upstreamPort, 'all cores');
    servers.push(ours);
    const other = await startPortolanResolver(workplace, upstreamPort, 'all cores');
    servers.push(other);
    const hits = await saveHits(workplace);
    await putLoad({ port: ours.port, questions: hits, seconds: 2, outstanding: 50 });
    const circumstances: readonly Circumstances[] = [
      { name: 'no flood', flooded: undefined },
      { name: 'a flood', flooded: ours.port },
      { name: 'a flood at another server', flooded: other.port },
    ];
    let turn = 0;
    const turns = await takeTurns(
      circumstances,
      workplace.rounds,
      (now) => measureTurn(workplace, ours, hits, now, turn++),
      workplace.say,
    );
    return { measurement: 'flood', tables: [printHits(turns)], goals: judge(turns), data: turns };
  } finally {
    await Promise.all(servers.map((server) => server.process.stop()));
  }
}

/** Half of the hits are names of the cluster, half are cached. */
function saveHits(workplace: Workplace): Promise<string> {
  const lines = listKnownNames(CACHED_NAMES).flatMap((line, index) => {
    const name = EXAMPLE_NAMES[index % EXAMPLE_NAMES.length];
    return [line, `${name} A`];
  });
  return saveLines(workplace, 'hits', lines);
}

async function measureTurn(
  workplace: Workplace,
  { port, process }: DnsServer,
  hits: string,
  { name, flooded }: Circumstances,
  turn: number,
): Promise<HitStats> {
  const { seconds, say } = workplace;
  const flooding = flooded === undefined ? undefined : flood(workplace, flooded, turn);
  // A failure is reported where it is awaited.
  flooding?.catch(() => {});
  if (flooding !== undefined) await sleep(LEAD_SECONDS * 1000);
  const { latencies, lost } = await measureLatencies({
    port,
    questions: hits,
    seconds,
    rate: HITS_PER_SECOND,
  });
  const stats = {
    median: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    lost,
    floodRate: (await flooding) ?? 0,
    resident: readMemory(process.pid).resident,
  };
  say(
    `${name} (${Math.round(stats.floodRate)} a second): hits' p99 ${stats.p99.toFixed(0)} us, ${lost} lost`,
  );
  return stats;
}

/** @returns how many were answered in a second */
async function flood(workplace: Workplace, port: number, turn: number): Promise<number> {
  const seconds = workplace.seconds + 2 * LEAD_SECONDS;
  const questions = await saveLines(workplace, `flood-${turn}`, listNewNames(turn, seconds, 'absent'));
  const { queriesPerSecond } = await putLoad({ port, questions, seconds });
  await rm(questions);
  return queriesPerSecond;
}

function judge(turns: FloodTurns): readonly Goal[] {
  const [without, withFlood] = turns.map(({ results }) => summarize(results.map(({ p99 }) => p99)).median);
  if (without === undefined || withFlood === undefined) return [];
  const lost = turns.flatMap(({ results }) => results).reduce((sum, result) => sum + result.lost, 0);
  return [
    {
      what: "hits' p99 in a flood against none",
      value: withFlood / without,
      limit: GOAL_TIMES,
      unit: 'times',
    },
    { what: 'hits lost', value: lost, limit: 0, unit: '' },
  ];
}

function printHits(turns: FloodTurns): Table {
  const median = (results: readonly HitStats[], figure: (result: HitStats) => number) =>
    summarize(results.map(figure)).median.toFixed(0);
  return {
    title: `Table hits, ${HITS_PER_SECOND} a second`,
    columns: ['', 'p99 us', 'median us', 'lost', 'flood a second', 'MiB'],
    rows: turns.map(({ subject, results }) => [
      subject.name,
      printSummary(summarize(results.map(({ p99 }) => p99)), 0),
      median(results, (result) => result.median),
      String(results.reduce((sum, { lost }) => sum + lost, 0)),
      median(results, ({ floodRate }) => floodRate),
      median(results, ({ resident }) => resident),
    ]),
  };
}
