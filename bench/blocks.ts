/**
 * What a server block costs: the start of Corefiles with one block and with many, on one port and with a port each, against CoreDNS.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DnsClient } from './dns-client.ts';
import { findFreePort } from './free-port.ts';
import { machineTime } from './machine.ts';
import { readMemory } from './memory.ts';
import { KNOWN } from './outside.ts';
import { readProcessTime } from './processor-time.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { takeTurns } from './rounds.ts';
import {
  type CorefileProgram,
  findCoreDns,
  findPortolan,
  runByCorefile,
} from './servers/corefile-servers.ts';
import { startUpstream } from './servers/upstream.ts';
import { summarize } from './statistics.ts';
import type { Workplace } from './workplace.ts';

/** A Corefile with many blocks, and the most that one of them may cost. */
interface Scene {
  readonly name: string;
  readonly blocks: number;
  readonly hasPortEach: boolean;
  /** Milliseconds to the first answer; for a block, milliseconds of processor time and kibibytes of anonymous memory. */
  readonly goals?: { readonly first: number; readonly time: number; readonly memory: number };
}

const ONE: Scene = { name: '1 block', blocks: 1, hasPortEach: false };
const SCENES: readonly Scene[] = [
  ONE,
  { name: '264 blocks, a port each', blocks: 264, hasPortEach: true },
  { name: '1,000 blocks', blocks: 1000, hasPortEach: false, goals: { first: 1000, time: 0.5, memory: 20 } },
];
const PATIENCE_MILLISECONDS = 60_000;
const SETTLE_MILLISECONDS = 5_000;

interface Row {
  readonly scene: Scene;
  readonly contestant: CorefileProgram;
}

interface Start {
  /** Milliseconds until the last block answers. */
  readonly first: number;
  /** Milliseconds of processor time by then. */
  readonly processorTime: number;
  /** Mebibytes, in the settled state. */
  readonly anonymous: number;
}

export async function measureBlocks(workplace: Workplace): Promise<Report> {
  const upstream = await startUpstream(workplace);
  try {
    const contestants = findContestants(workplace);
    const rows = SCENES.flatMap((scene) => contestants.map((contestant) => ({ scene, contestant })));
    const measure = (row: Row) => startOnce(workplace, row, upstream.port);
    const turns = await takeTurns(rows, workplace.rounds, measure, workplace.say);
    const results = turns.map(({ subject, results: starts }) => ({ ...subject, starts }));
    return {
      measurement: 'blocks',
      tables: [printStarts(results)],
      goals: results.flatMap((result) => judge(result, results)),
      data: results.map(({ scene, contestant, starts }) => ({
        corefile: scene.name,
        server: contestant.name,
        starts,
      })),
    };
  } finally {
    await upstream.process.stop();
  }
}

function findContestants(workplace: Workplace): readonly CorefileProgram[] {
  const ours = findPortolan(workplace);
  const { COREDNS: binary } = process.env;
  if (binary !== undefined) return [ours, findCoreDns(binary)];
  workplace.say('COREDNS names no binary: nothing to compare with');
  return [ours];
}

/** Blocks of five plugins. The last one has the name that is asked for. */
function writeBlocks({ blocks, hasPortEach }: Scene, ports: readonly number[], upstream: number): string {
  return Array.from({ length: blocks }, (_, index) => {
    const zone = index === blocks - 1 ? '.' : `zone-${index}.example`;
    const port = ports[hasPortEach ? index : 0];
    return `${zone}:${port} {
  bind 127.0.0.1
  errors
  cache 30
  loadbalance
  forward . 127.0.0.1:${upstream}
}
`;
  }).join('');
}

async function startOnce(
  { folder }: Workplace,
  { scene, contestant }: Row,
  upstream: number,
): Promise<Start> {
  const ports: number[] = [];
  while (ports.length < (scene.hasPortEach ? scene.blocks : 1)) ports.push(await findFreePort());
  const path = join(folder, 'Corefile-blocks');
  await writeFile(path, writeBlocks(scene, ports, upstream));
  const server = await runByCorefile(contestant, path, 'all cores');
  const client = new DnsClient(ports.at(-1) ?? 0);
  try {
    const isAnswered = (data: readonly unknown[]) => data.length > 0;
    if (!(await client.askUntil(KNOWN, 'A', isAnswered, PATIENCE_MILLISECONDS)))
      throw new Error(`${contestant.name} never answered: ${scene.name}`);
    const first = machineTime() - server.startedAt;
    const processorTime = readProcessTime(server.pid);
    await sleep(SETTLE_MILLISECONDS);
    return { first, processorTime, anonymous: readMemory(server.pid).anonymous };
  } finally {
    client.close();
    await server.stop();
  }
}

type Result = Row & { readonly starts: readonly Start[] };

const median = ({ starts }: Pick<Result, 'starts'>, read: (start: Start) => number): number =>
  summarize(starts.map(read)).median;

/** What each block after the first costs. @throws Error where the start with one block is missing */
function costs(
  result: Result,
  results: readonly Result[],
): { readonly time: number; readonly memory: number } {
  const one = results.find(({ scene, contestant }) => scene === ONE && contestant === result.contestant);
  if (one === undefined) throw new Error(`no start with one block: ${result.contestant.name}`);
  const more = Math.max(1, result.scene.blocks - 1);
  const grow = (read: (start: Start) => number) => (median(result, read) - median(one, read)) / more;
  return {
    time: grow(({ processorTime }) => processorTime),
    memory: grow(({ anonymous }) => anonymous) * 1024,
  };
}

function printStarts(results: readonly Result[]): Table {
  const cell = ({ starts }: Result, read: (start: Start) => number) =>
    printSummary(summarize(starts.map(read)), 0);
  return {
    title: `Start by server blocks: milliseconds to the first answer of the last block, memory ${SETTLE_MILLISECONDS / 1000} s later`,
    columns: ['', 'first answer', 'processor time', 'anonymous MB', 'ms a block', 'KB a block'],
    rows: results.map((result) => {
      const { time, memory } = costs(result, results);
      const each = result.scene === ONE ? ['', ''] : [time.toFixed(2), memory.toFixed(0)];
      return [
        `${result.contestant.name}, ${result.scene.name}`,
        cell(result, ({ first }) => first),
        cell(result, ({ processorTime }) => processorTime),
        cell(result, ({ anonymous }) => anonymous),
        ...each,
      ];
    }),
  };
}

/** Ours alone is judged. */
function judge(result: Result, results: readonly Result[]): readonly Goal[] {
  const { scene, contestant } = result;
  if (scene.goals === undefined || contestant.name !== 'Portolan') return [];
  const { time, memory } = costs(result, results);
  return [
    { what: `processor time of a block, ${scene.name}`, value: time, limit: scene.goals.time, unit: 'ms' },
    { what: `memory of a block, ${scene.name}`, value: memory, limit: scene.goals.memory, unit: 'KB' },
    {
      what: `first answer, ${scene.name}`,
      value: median(result, ({ first }) => first),
      limit: scene.goals.first,
      unit: 'ms',
    },
  ];
}
