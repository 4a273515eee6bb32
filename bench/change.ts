/**
 * How long a change takes to be seen: from the event that the API server sends until a client gets the new answer; alone,
 * and among a thousand other changes a second, which must not make queries dearer either.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from './api-server.ts';
import { PROBE } from './api-server-orders.ts';
import { type ClusterShape, describeCluster, nameOf, podAddress } from './cluster.ts';
import { moveToServerCore } from './cores.ts';
import { DnsClient } from './dns-client.ts';
import { measureCost } from './dnsperf.ts';
import { machineTime } from './machine.ts';
import type { ThreadTimes } from './processor-time.ts';
import { createRandom } from './random.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { takeTurns } from './rounds.ts';
import { type Portolan, startPortolan } from './servers/portolan.ts';
import { percentile, summarize } from './statistics.ts';
import { saveQuestions, type Workplace } from './workplace.ts';

const SMALL: ClusterShape = { services: 100, endpoints: 200 };
const LARGE: ClusterShape = { services: 10_000, endpoints: 20_000 };
const QUIET_CHANGES = 300;
const CHANGES_PER_SECOND = 1_000;
const CHANGING_MILLISECONDS = 30_000;
/** Between two changes of the probe: up to so long, so that no rhythm of the server's own is met. */
const MAX_PAUSE_MILLISECONDS = 30;
const PATIENCE_MILLISECONDS = 10_000;

interface Stage {
  readonly apiServer: ApiServer;
  readonly server: Portolan;
  readonly questions: string;
}

/** Among other changes. */
interface Busy {
  readonly latencies: readonly number[];
  readonly changesPerSecond: number;
  /** Microseconds of the reader's thread per query, without and with changes. */
  readonly costQuiet: readonly number[];
  readonly costBusy: readonly number[];
}

export async function measureChange(workplace: Workplace): Promise<Report> {
  const small = await onStage(workplace, SMALL, (stage) => watchChanges(stage, countTo(QUIET_CHANGES)));
  workplace.say(`${SMALL.services} services: ${describeLatencies(small)}`);
  const [large, busy] = await onStage(workplace, LARGE, async (stage) => {
    const latencies = await watchChanges(stage, countTo(QUIET_CHANGES));
    workplace.say(`${LARGE.services} services: ${describeLatencies(latencies)}`);
    return [latencies, await measureAmongChanges(workplace, stage)] as const;
  });
  return {
    measurement: 'change',
    tables: [
      printLatencies([
        [`${SMALL.services} services`, small],
        [`${LARGE.services} services`, large],
        [`${LARGE.services} services, ${Math.round(busy.changesPerSecond)} changes a second`, busy.latencies],
      ]),
      printCosts(busy),
    ],
    goals: judge(small, large, busy),
    data: { small, large, busy },
  };
}

async function onStage<Result>(
  workplace: Workplace,
  shape: ClusterShape,
  perform: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const apiServer = await ApiServer.start(workplace, shape);
  let server: Portolan | undefined;
  try {
    const questions = await saveQuestions(workplace, describeCluster(shape), `change-${shape.services}`);
    server = await startPortolan(workplace, apiServer.url, 'all cores');
    return await perform({ apiServer, server, questions });
  } finally {
    await Promise.all([server?.process.stop(), apiServer.stop()]);
  }
}

function countTo(times: number): (done: number) => boolean {
  return (done) => done < times;
}

/** @returns milliseconds from each event of the probe until it was seen */
async function watchChanges(
  { apiServer, server }: Stage,
  goOn: (done: number) => boolean,
): Promise<readonly number[]> {
  const client = new DnsClient(server.port);
  const random = createRandom(server.port);
  const latencies: number[] = [];
  try {
    while (goOn(latencies.length)) {
      latencies.push(await watchOne(apiServer, client, podAddress(6_000_000 + latencies.length)));
      await sleep(random() * MAX_PAUSE_MILLISECONDS);
    }
    return latencies;
  } finally {
    client.close();
  }
}

async function watchOne(apiServer: ApiServer, client: DnsClient, address: string): Promise<number> {
  const sent = apiServer.pointProbe(address);
  const isNew = (data: readonly unknown[]) => data.length === 1 && data[0] === address;
  if (!(await client.askUntil(nameOf(PROBE), 'A', isNew, PATIENCE_MILLISECONDS)))
    throw new Error(`a change was never seen: ${nameOf(PROBE)} at ${address}, ${PATIENCE_MILLISECONDS} ms`);
  const seenAt = machineTime();
  return seenAt - (await sent);
}

/** Latencies first, without any load: full load takes all the time that a core has. Then load with changes and without. */
async function measureAmongChanges(workplace: Workplace, stage: Stage): Promise<Busy> {
  const { rounds, say } = workplace;
  const { apiServer, server } = stage;
  apiServer.startChanges(CHANGES_PER_SECOND);
  const end = machineTime() + CHANGING_MILLISECONDS;
  const latencies = await watchChanges(stage, () => machineTime() < end);
  const changesPerSecond = await apiServer.stopChanges();
  say(`among changes: ${describeLatencies(latencies)}`);
  moveToServerCore(server.process.pid);
  const turns = await takeTurns(
    [0, CHANGES_PER_SECOND],
    rounds,
    (rate) => measureReader(workplace, stage, rate),
    say,
  );
  const [quiet, busy] = turns.map(({ results }) => results);
  return { latencies, changesPerSecond, costQuiet: quiet ?? [], costBusy: busy ?? [] };
}

/** @returns microseconds of the reader's thread per query, among so many changes a second */
async function measureReader(
  { seconds }: Workplace,
  { apiServer, server, questions }: Stage,
  changesPerSecond: number,
): Promise<number> {
  const { pid } = server.process;
  if (changesPerSecond > 0) apiServer.startChanges(changesPerSecond);
  const { threads, completed } = await measureCost(pid, { port: server.port, questions, seconds });
  if (changesPerSecond > 0) await apiServer.stopChanges();
  return timeOfReader(threads, pid) / completed;
}

/** Under full load the one reader is the busiest thread beside the main one, whose number is that of the process. */
function timeOfReader(threads: ThreadTimes, pid: number): number {
  return Math.max(...[...threads].filter(([thread]) => thread !== pid).map(([, time]) => time));
}

function describeLatencies(latencies: readonly number[]): string {
  const [median, almostAll] = [50, 99].map((percent) => percentile(latencies, percent).toFixed(1));
  return `${latencies.length} changes seen, p50 ${median} ms, p99 ${almostAll} ms`;
}

function printLatencies(rows: readonly (readonly [string, readonly number[]])[]): Table {
  return {
    title: 'From event sent to answer seen, in ms',
    columns: ['', 'changes', 'p50', 'p99', 'most'],
    rows: rows.map(([title, latencies]) => [
      title,
      String(latencies.length),
      ...[50, 99, 100].map((percent) => percentile(latencies, percent).toFixed(1)),
    ]),
  };
}

function printCosts({ costQuiet, costBusy }: Busy): Table {
  return {
    title: "The reader's own processor time per query",
    columns: ['', 'us'],
    rows: [
      ['without changes', printSummary(summarize(costQuiet), 2)],
      ['with changes', printSummary(summarize(costBusy), 2)],
    ],
  };
}

function judge(small: readonly number[], large: readonly number[], busy: Busy): readonly Goal[] {
  const unit = 'ms';
  return [
    { what: `p99, ${SMALL.services} services`, value: percentile(small, 99), limit: 20, unit },
    { what: `p99, ${LARGE.services} services`, value: percentile(large, 99), limit: 20, unit },
    {
      what: `p99, ${CHANGES_PER_SECOND} changes a second`,
      value: percentile(busy.latencies, 99),
      limit: 100,
      unit,
    },
    {
      what: "the reader's time per query with changes against without",
      value: summarize(busy.costBusy).median / summarize(busy.costQuiet).median,
      limit: 1.1,
      unit: 'times',
    },
  ];
}
