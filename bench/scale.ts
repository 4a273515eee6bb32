/**
 * The cost of the size of the cluster: time until ready, memory, octets of the table, and the cost of a query.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from './api-server.ts';
import { type ClusterShape, describeCluster } from './cluster.ts';
import { moveToServerCore } from './cores.ts';
import { type Cost, measureCost } from './dnsperf.ts';
import { readMemory } from './memory.ts';
import { readThreadTimes, sumTimes } from './processor-time.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { type Turns, takeTurns } from './rounds.ts';
import { type Portolan, startPortolan } from './servers/portolan.ts';
import { summarize } from './statistics.ts';
import { saveQuestions, type Workplace } from './workplace.ts';

const SHAPES: readonly ClusterShape[] = [
  { services: 100, endpoints: 200 },
  { services: 1_000, endpoints: 2_000 },
  { services: 10_000, endpoints: 20_000 },
  { services: 10_000, endpoints: 100_000 },
];
/** The shape that memory and time to ready are judged at. */
const JUDGED = SHAPES.find(({ endpoints }) => endpoints === 20_000);
const SETTLE_MILLISECONDS = 5_000;
const COLLECTIONS = 3;
const COLLECT_MILLISECONDS = 1_000;

interface Subject {
  readonly shape: ClusterShape;
  readonly apiServer: ApiServer;
  readonly server: Portolan;
  readonly questions: string;
  readonly start: StartStats;
}

interface StartStats {
  /** Milliseconds from the start of the process until it said that it is ready. */
  readonly fromStart: number;
  /** The same from the API server's first answer on. */
  readonly fromFirstAnswer: number;
  /** Milliseconds that all its threads had used by then. */
  readonly processorTime: number;
  /** Mebibytes some seconds later, and after a collection of garbage. */
  readonly settled: number;
  readonly collected: number;
  readonly tableOctets: number;
}

type SubjectTurns = readonly Turns<Subject, Cost>[];

export async function measureScale(workplace: Workplace): Promise<Report> {
  const subjects: Subject[] = [];
  try {
    for (const shape of SHAPES) {
      subjects.push(await startSubject(workplace, shape));
      workplace.say(describeStart(shape, subjects.at(-1)?.start));
    }
    const { rounds, seconds, say } = workplace;
    const turns = await takeTurns(
      subjects,
      rounds,
      ({ server, questions }) => measureCost(server.process.pid, { port: server.port, questions, seconds }),
      say,
    );
    return {
      measurement: 'scale',
      tables: [printStarts(subjects), printCosts(turns)],
      goals: judge(turns),
      data: turns.map(({ subject, results }) => ({
        ...subject.shape,
        ...subject.start,
        peak: readPeak(subject),
        rounds: results.map(({ threads, ...cost }) => ({ ...cost, threads: [...threads.values()] })),
      })),
    };
  } finally {
    await Promise.all(subjects.flatMap(({ server, apiServer }) => [server.process.stop(), apiServer.stop()]));
  }
}

async function startSubject(workplace: Workplace, shape: ClusterShape): Promise<Subject> {
  const questions = await saveQuestions(workplace, describeCluster(shape), formatTitle(shape));
  const apiServer = await ApiServer.start(workplace, shape);
  try {
    const server = await startPortolan(workplace, apiServer.kubeconfig, 'all cores');
    const processorTime = sumTimes(readThreadTimes(server.process.pid)) / 1000;
    const firstAnswerAt = apiServer.firstAnswerAt ?? server.process.startedAt;
    const start = {
      fromStart: server.readyAt - server.process.startedAt,
      fromFirstAnswer: server.readyAt - firstAnswerAt,
      processorTime,
      ...(await measureMemory(server)),
    };
    moveToServerCore(server.process.pid);
    return { shape, apiServer, server, questions, start };
  } catch (error) {
    await apiServer.stop();
    throw error;
  }
}

async function measureMemory(
  server: Portolan,
): Promise<Pick<StartStats, 'settled' | 'collected' | 'tableOctets'>> {
  await sleep(SETTLE_MILLISECONDS);
  const settled = readMemory(server.process.pid).resident;
  // One alone frees what the next can then give back to the system.
  for (let times = 0; times < COLLECTIONS; times++) {
    server.collectGarbage();
    await sleep(COLLECT_MILLISECONDS);
  }
  const collected = readMemory(server.process.pid).resident;
  return { settled, collected, tableOctets: readTableOctets(await server.metrics()) };
}

/** What the names of our zones occupy in the table. */
function readTableOctets(metrics: string): number {
  return Number(/^portolan_table_bytes\{kind="name"\} (\S+)$/m.exec(metrics)?.[1]);
}

function formatTitle({ services, endpoints }: ClusterShape): string {
  return `${services} services, ${endpoints} endpoints`;
}

function describeStart(shape: ClusterShape, start: StartStats | undefined): string {
  if (start === undefined) return formatTitle(shape);
  return `${formatTitle(shape)}: ready after ${Math.round(start.fromStart)} ms, ${start.collected.toFixed(1)} MiB`;
}

/** Of the whole run, so it is read at its end. */
function readPeak({ server }: Subject): number {
  return readMemory(server.process.pid).peak;
}

function printStarts(subjects: readonly Subject[]): Table {
  const rows = subjects.map((subject) => {
    const { fromStart, fromFirstAnswer, processorTime, settled, collected, tableOctets } = subject.start;
    return [
      formatTitle(subject.shape),
      ...[fromStart, fromFirstAnswer, processorTime].map((milliseconds) => `${Math.round(milliseconds)} ms`),
      ...[settled, collected, readPeak(subject)].map((mebibytes) => mebibytes.toFixed(1)),
      (tableOctets / 2 ** 20).toFixed(1),
    ];
  });
  return {
    title: 'Start, and memory in MiB',
    columns: [
      '',
      'ready',
      'after first answer',
      'processor time',
      'resident',
      'after collection',
      'peak',
      'table',
    ],
    rows,
  };
}

function listCosts({ results }: Turns<Subject, Cost>): readonly number[] {
  return results.map(({ perQuery }) => perQuery);
}

function printCosts(turns: SubjectTurns): Table {
  const rows = turns.map((turn) => [
    formatTitle(turn.subject.shape),
    printSummary(summarize(listCosts(turn)), 2),
    summarize(turn.results.map(({ queriesPerSecond }) => queriesPerSecond)).median.toFixed(0),
    String(turn.results.reduce((sum, { lost }) => sum + lost, 0)),
  ]);
  return { title: 'Cost', columns: ['', 'us per query', 'queries a second', 'lost'], rows };
}

function judge(turns: SubjectTurns): readonly Goal[] {
  const [smallest] = turns;
  const largest = turns.at(-1);
  const judged = turns.find(({ subject }) => subject.shape === JUDGED)?.subject;
  if (smallest === undefined || largest === undefined || judged === undefined) return [];
  const title = formatTitle(judged.shape);
  return [
    {
      what: 'cost per query at the largest against the smallest',
      value: summarize(listCosts(largest)).median / summarize(listCosts(smallest)).median,
      limit: 1.15,
      unit: 'times',
    },
    { what: `resident, ${title}`, value: judged.start.collected, limit: 110, unit: 'MiB' },
    {
      what: `ready after the first answer, ${title}`,
      value: judged.start.fromFirstAnswer / 1000,
      limit: 3,
      unit: 's',
    },
  ];
}
