/**
 * The cache of a node: the time from its start to its first answer, compared with the start of only Node.js, and its memory at
 * rest and after 10,000 names.
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DnsClient } from './dns-client.ts';
import { machineTime } from './machine.ts';
import { type Memory, readMemory } from './memory.ts';
import { DOMAIN, KNOWN } from './outside.ts';
import { readProcessTime } from './processor-time.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { takeTurns } from './rounds.ts';
import { findNodeCaches, type NodeCache } from './servers/node-cache.ts';
import { startUpstream } from './servers/upstream.ts';
import { summarize } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const NAMES = 10_000;
const PATIENCE_MILLISECONDS = 30_000;
/** Until memory is read: V8 has collected by then what a start and a load have left. */
const SETTLE_MILLISECONDS = 10_000;

interface Turn {
  /** Milliseconds that Node.js takes from its start to its end with nothing to run. */
  readonly bare: number;
  /** Milliseconds from the start of the process to its first answer. */
  readonly first: number;
  /** Milliseconds of processor time by then. */
  readonly processorTime: number;
  readonly atRest: Memory;
  readonly loaded: Memory;
}

type Result = { readonly subject: NodeCache; readonly results: readonly Turn[] };

export async function measureNodeCache(workplace: Workplace): Promise<Report> {
  const upstream = await startUpstream(workplace);
  try {
    const measure = (subject: NodeCache) => takeTurn(subject, workplace, upstream.port);
    const results = await takeTurns(findNodeCaches(), workplace.rounds, measure, workplace.say);
    return {
      measurement: 'node-cache',
      tables: [printStarts(results), printMemory(results)],
      goals: judge(results[0]),
      data: results.map(({ subject, results: turns }) => ({ server: subject.name, turns })),
    };
  } finally {
    await upstream.process.stop();
  }
}

async function takeTurn(subject: NodeCache, workplace: Workplace, upstreamPort: number): Promise<Turn> {
  const bare = await startNodeAlone();
  const { process: server, port } = await subject.begin(workplace, upstreamPort, 'all cores');
  const client = new DnsClient(port);
  try {
    const isAnswered = (data: readonly unknown[]) => data.length > 0;
    if (!(await client.askUntil(KNOWN, 'A', isAnswered, PATIENCE_MILLISECONDS)))
      throw new Error(`${subject.name} never answered: ${KNOWN}, ${PATIENCE_MILLISECONDS} ms`);
    const first = machineTime() - server.startedAt;
    const processorTime = readProcessTime(server.pid);
    await sleep(SETTLE_MILLISECONDS);
    const atRest = readMemory(server.pid);
    for (let name = 0; name < NAMES; name++) await client.ask(`host-${name}.there.${DOMAIN}`, 'A');
    await sleep(SETTLE_MILLISECONDS);
    return { bare, first, processorTime, atRest, loaded: readMemory(server.pid) };
  } finally {
    client.close();
    await server.stop();
  }
}

async function startNodeAlone(): Promise<number> {
  const begun = machineTime();
  await promisify(execFile)(process.execPath, ['-e', '0']);
  return machineTime() - begun;
}

const cell = (turns: readonly Turn[], read: (turn: Turn) => number) =>
  printSummary(summarize(turns.map(read)), 0);

function printStarts(results: readonly Result[]): Table {
  return {
    title: 'Start: milliseconds to the first answer',
    columns: ['', 'first answer', 'processor time', 'Node.js alone'],
    rows: results.map(({ subject, results: turns }) => [
      subject.name,
      cell(turns, ({ first }) => first),
      cell(turns, ({ processorTime }) => processorTime),
      cell(turns, ({ bare }) => bare),
    ]),
  };
}

function printMemory(results: readonly Result[]): Table {
  const row = (title: string, turns: readonly Turn[], read: (turn: Turn) => Memory) => [
    title,
    cell(turns, (turn) => read(turn).resident),
    cell(turns, (turn) => read(turn).anonymous),
    cell(turns, (turn) => read(turn).peak),
  ];
  return {
    title: 'Memory in MiB',
    columns: ['', 'resident', 'anonymous', 'peak'],
    rows: results.flatMap(({ subject, results: turns }) => [
      row(`${subject.name}, at rest`, turns, ({ atRest }) => atRest),
      row(`${subject.name}, after ${NAMES} names`, turns, ({ loaded }) => loaded),
    ]),
  };
}

/** Ours alone is judged. */
function judge(ours: Result | undefined): readonly Goal[] {
  if (ours === undefined) return [];
  const median = (read: (turn: Turn) => number) => summarize(ours.results.map(read)).median;
  const unit = 'MiB';
  return [
    { what: 'first answer', value: median(({ first }) => first), limit: 300, unit: 'ms' },
    {
      what: `resident, after ${NAMES} names`,
      value: median(({ loaded }) => loaded.resident),
      limit: 60,
      unit,
    },
    {
      what: `anonymous, after ${NAMES} names`,
      value: median(({ loaded }) => loaded.anonymous),
      limit: 22,
      unit,
    },
  ];
}
