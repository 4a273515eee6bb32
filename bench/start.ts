/**
 * The time from the start of a server to its first answer, the processor time of the start, and the memory after it: for an
 * empty cluster and a large one, or for the cluster of a kubeconfig file. With a snapshot the first answer is from that.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { ApiServer, findGivenCluster } from './api-server.ts';
import { type ClusterShape, describeCluster, toServiceName } from './cluster.ts';
import { DnsClient } from './dns-client.ts';
import { readGivenCluster } from './given-cluster.ts';
import { machineTime } from './machine.ts';
import { type Memory, readMemory } from './memory.ts';
import { readProcessTime } from './processor-time.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { takeTurns } from './rounds.ts';
import { findCoreDns, startCoreDns } from './servers/coredns.ts';
import { beginPortolan } from './servers/portolan.ts';
import type { DnsServer } from './servers/server.ts';
import { summarize } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const OURS = 'Portolan';
const LARGE: ClusterShape = { services: 10_000, endpoints: 38_000 };
/** Its one service is what is asked for. */
const EMPTY: ClusterShape = { services: 1, endpoints: 1 };
const PATIENCE_MILLISECONDS = 60_000;
/** The wait before memory is read: by then, memory that only the start needs is free. */
const SETTLE_MILLISECONDS = 5_000;

interface Start {
  /** Milliseconds from the start of the process to the first answer of the name that is listed last. */
  readonly first: number;
  /** Milliseconds of processor time by then, all threads that ever were included. */
  readonly processorTime: number;
  /** In the settled state. */
  readonly memory: Memory;
}

/** A cluster to start before. */
interface Stage {
  readonly title: string;
  readonly kubeconfig: string;
  readonly last: string;
  /** Milliseconds: the first answer and the processor time. */
  readonly goals: {
    readonly first: number;
    readonly processorTime?: number;
    readonly memory?: Partial<Memory>;
    /** The first answer of a start with a snapshot. */
    readonly fromSnapshot?: number;
  };
  stop(): Promise<void>;
}

interface Contestant {
  readonly name: string;
  begin(kubeconfig: string): Promise<DnsServer>;
  /** Whether it starts from what it has written at its last end. */
  readonly hasSnapshot?: boolean;
}

interface Row {
  readonly stage: Stage;
  readonly contestant: Contestant;
}

export async function measureStart(workplace: Workplace): Promise<Report> {
  const stages = await openStages(workplace);
  try {
    const contestants = findContestants(workplace);
    const rows = stages.flatMap((stage) =>
      contestants.flatMap((contestant) =>
        // Without objects there is no difference.
        contestant.hasSnapshot === true && stage.goals.fromSnapshot === undefined
          ? []
          : [{ stage, contestant }],
      ),
    );
    // Once before: the first list of the double is encoded, and files are read.
    const ready: Row[] = [];
    for (const row of rows) if (await isReady(row, workplace)) ready.push(row);
    const measure = (row: Row) => startOnce(row, SETTLE_MILLISECONDS);
    const turns = await takeTurns(ready, workplace.rounds, measure, workplace.say);
    const results = turns.map(({ subject, results: starts }) => ({ ...subject, starts }));
    return {
      measurement: 'start',
      tables: [printStarts(results)],
      goals: results.flatMap(judge),
      data: results.map(({ stage, contestant, starts }) => ({
        cluster: stage.title,
        server: contestant.name,
        starts,
      })),
    };
  } finally {
    for (const stage of stages) await stage.stop();
  }
}

async function openStages(workplace: Workplace): Promise<readonly Stage[]> {
  const given = findGivenCluster();
  if (given !== undefined) {
    const { last, services } = await readGivenCluster(given);
    const title = `the cluster of ${given}, ${services} services`;
    return [{ title, kubeconfig: given, last, goals: LARGE_GOALS, stop: async () => {} }];
  }
  return [await openDouble(workplace, EMPTY, EMPTY_GOALS), await openDouble(workplace, LARGE, LARGE_GOALS)];
}

const EMPTY_GOALS = { first: 250 };
const LARGE_GOALS = {
  first: 1_000,
  processorTime: 900,
  memory: { resident: 100, anonymous: 60, peak: 115 },
  fromSnapshot: 250,
};

async function openDouble(workplace: Workplace, shape: ClusterShape, goals: Stage['goals']): Promise<Stage> {
  const server = await ApiServer.start(workplace, shape);
  const last = describeCluster(shape).services.at(-1);
  return {
    title: `${shape.services} services, ${shape.endpoints} endpoints`,
    kubeconfig: server.kubeconfig,
    last: last === undefined ? '' : toServiceName(last),
    goals,
    stop: () => server.stop(),
  };
}

function findContestants(workplace: Workplace): readonly Contestant[] {
  const ours = {
    name: OURS,
    begin: (kubeconfig: string) => beginPortolan(workplace, kubeconfig, 'all cores'),
  };
  const name = `${OURS} with a snapshot`;
  const variant = { name, flags: [`--snapshot=${join(workplace.folder, 'snapshot')}`] };
  const restarted = {
    name,
    hasSnapshot: true,
    begin: (kubeconfig: string) => beginPortolan(workplace, kubeconfig, 'all cores', variant),
  };
  const binary = findCoreDns();
  if (binary === undefined) {
    workplace.say('no CoreDNS to compare with: name its binary in COREDNS');
    return [ours, restarted];
  }
  const begin = (kubeconfig: string) => startCoreDns(workplace, binary, kubeconfig, 'all cores');
  return [ours, restarted, { name: 'CoreDNS', begin }];
}

/** A peer that does not get along with the API server is left out. @throws Error where it is ours */
async function isReady(row: Row, { say }: Workplace): Promise<boolean> {
  const { stage, contestant } = row;
  try {
    // A snapshot is written once all is listed.
    const { first } = await startOnce(row, contestant.hasSnapshot === true ? SETTLE_MILLISECONDS : 0);
    say(`${contestant.name}, ${stage.title}: first answer after ${Math.round(first)} ms`);
    return true;
  } catch (error) {
    if (contestant.name.startsWith(OURS)) throw error;
    say(`${contestant.name} left out: ${describeError(error)}`);
    return false;
  }
}

async function startOnce({ stage, contestant }: Row, settle: number): Promise<Start> {
  const { process, port } = await contestant.begin(stage.kubeconfig);
  const client = new DnsClient(port);
  try {
    const isAnswered = (data: readonly unknown[]) => data.length > 0;
    if (!(await client.askUntil(stage.last, 'A', isAnswered, PATIENCE_MILLISECONDS)))
      throw new Error(`${contestant.name} never answered: ${stage.last}, ${PATIENCE_MILLISECONDS} ms`);
    const first = machineTime() - process.startedAt;
    const processorTime = readProcessTime(process.pid);
    await sleep(settle);
    return { first, processorTime, memory: readMemory(process.pid) };
  } finally {
    client.close();
    await process.stop();
  }
}

type Result = Row & { readonly starts: readonly Start[] };

function printStarts(results: readonly Result[]): Table {
  const cell = (starts: readonly Start[], read: (start: Start) => number) =>
    printSummary(summarize(starts.map(read)), 0);
  return {
    title: 'Start: milliseconds to the first answer of the last name, and memory in MB 5 s later',
    columns: ['', 'first answer', 'processor time', 'resident', 'anonymous', 'peak'],
    rows: results.map(({ stage, contestant, starts }) => [
      `${contestant.name}, ${stage.title}`,
      cell(starts, ({ first }) => first),
      cell(starts, ({ processorTime }) => processorTime),
      cell(starts, ({ memory }) => memory.resident),
      cell(starts, ({ memory }) => memory.anonymous),
      cell(starts, ({ memory }) => memory.peak),
    ]),
  };
}

/** Ours alone is judged. */
function judge({ stage, contestant, starts }: Result): readonly Goal[] {
  if (!contestant.name.startsWith(OURS)) return [];
  const median = (read: (start: Start) => number) => summarize(starts.map(read)).median;
  const value = median((start) => start.first);
  if (contestant.hasSnapshot === true)
    return [
      { what: 'first answer from a snapshot', value, limit: stage.goals.fromSnapshot ?? 0, unit: 'ms' },
    ];
  const { first, processorTime, memory = {} } = stage.goals;
  const goals: Goal[] = [{ what: `first answer, ${stage.title}`, value, limit: first, unit: 'ms' }];
  if (processorTime !== undefined)
    goals.push({
      what: `processor time, ${stage.title}`,
      value: median((start) => start.processorTime),
      limit: processorTime,
      unit: 'ms',
    });
  for (const field of ['resident', 'anonymous', 'peak'] as const) {
    const limit = memory[field];
    if (limit === undefined) continue;
    goals.push({
      what: `${field}, ${stage.title}`,
      value: median((start) => start.memory[field]),
      limit,
      unit: 'MB',
    });
  }
  return goals;
}
