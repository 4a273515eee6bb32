/**
 * The latency of a change: from the event that the API server sends until a client gets the new answer. Measured by itself,
 * and among a thousand other changes a second, which must not make queries more expensive either.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer, findGivenCluster } from './api-server.ts';
import { PROBE } from './api-server-orders.ts';
import { type ClusterShape, describeCluster, podAddress, toServiceName } from './cluster.ts';
import { moveToServerCore } from './cores.ts';
import { DnsClient } from './dns-client.ts';
import { measureCost } from './dnsperf.ts';
import { GivenProbe } from './given-cluster.ts';
import { machineTime } from './machine.ts';
import { PlainWatch } from './plain-watch.ts';
import type { ThreadTimes } from './processor-time.ts';
import { createRandom } from './random.ts';
import { type Goal, printSummary, type Report, type Table } from './report.ts';
import { takeTurns } from './rounds.ts';
import { findCoreDns, startCoreDns } from './servers/coredns.ts';
import { type Portolan, startPortolan } from './servers/portolan.ts';
import { waitUntilAnswers } from './servers/server.ts';
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

/** Something whose address is changed, and asked for. */
interface Probe {
  readonly name: string;
  /** @returns when the event was sent, by the machine's clock */
  point(address: string): Promise<number>;
}

/** Milliseconds from each event of the probe until it was seen. */
type Delays = readonly number[];

/** Among other changes. */
interface Busy {
  readonly latencies: Delays;
  readonly changesPerSecond: number;
  /** Microseconds of the reader's thread per query, without and with changes. */
  readonly costQuiet: readonly number[];
  readonly costBusy: readonly number[];
}

/** Titles and delays, of our server or another one. */
type Row = readonly [title: string, delays: Delays];

export async function measureChange(workplace: Workplace): Promise<Report> {
  const given = findGivenCluster();
  if (given !== undefined) return await measureGiven(workplace, given);
  const [small, floor] = await onStage(workplace, SMALL, watchBesideFloor);
  workplace.say(`${SMALL.services} services: ${describeLatencies(small)}`);
  const [large, busy] = await onStage(workplace, LARGE, async (stage) => {
    const latencies = await watchChanges(
      makeProbe(stage.apiServer),
      stage.server.port,
      countTo(QUIET_CHANGES),
    );
    workplace.say(`${LARGE.services} services: ${describeLatencies(latencies)}`);
    return [latencies, await measureAmongChanges(workplace, stage)] as const;
  });
  const others = await measureCoreDns(workplace);
  return {
    measurement: 'change',
    tables: [
      printLatencies([
        ['a plain watch (the floor)', floor],
        [`${SMALL.services} services`, small],
        [`${LARGE.services} services`, large],
        [`${LARGE.services} services, ${Math.round(busy.changesPerSecond)} changes a second`, busy.latencies],
        ...others,
      ]),
      printCosts(busy),
    ],
    goals: judge(small, large, busy),
    data: { floor, small, large, busy, others: Object.fromEntries(others) },
  };
}

/** @returns the delays of the server, and those of a client that only reads the events */
async function watchBesideFloor({ apiServer, server }: Stage): Promise<readonly [Delays, Delays]> {
  const watch = await PlainWatch.open(apiServer.url);
  const floor: number[] = [];
  const probe = makeProbe(apiServer);
  const point = async (address: string) => {
    const sentAt = await probe.point(address);
    floor.push((await watch.arrivalAfter(sentAt)) - sentAt);
    return sentAt;
  };
  try {
    const delays = await watchChanges({ ...probe, point }, server.port, countTo(QUIET_CHANGES));
    return [delays, floor];
  } finally {
    watch.close();
  }
}

/** In a real cluster nothing but the probe is changed. */
async function measureGiven(workplace: Workplace, path: string): Promise<Report> {
  const probe = await GivenProbe.create(path);
  const rows: Row[] = [];
  try {
    await probe.point(podAddress(0));
    const ours = await startPortolan(workplace, path, 'all cores');
    rows.push(['Portolan', await watchChanges(probe, ours.port, countTo(QUIET_CHANGES))]);
    await ours.process.stop();
    const binary = findCoreDns();
    if (binary !== undefined) {
      const theirs = await startCoreDns(workplace, binary, path, 'all cores');
      await waitUntilAnswers(theirs.process, theirs.port, probe.name);
      rows.push(['CoreDNS', await watchChanges(probe, theirs.port, countTo(QUIET_CHANGES))]);
      await theirs.process.stop();
    }
  } finally {
    await probe.remove();
  }
  const [[, delays] = ['', []]] = rows;
  const goals = judgeDelays(`the cluster of ${path}`, delays);
  return { measurement: 'change', tables: [printLatencies(rows)], goals, data: Object.fromEntries(rows) };
}

/** The same changes, seen by CoreDNS. */
async function measureCoreDns(workplace: Workplace): Promise<readonly Row[]> {
  const binary = findCoreDns();
  if (binary === undefined) return [];
  const rows: Row[] = [];
  for (const shape of [SMALL, LARGE]) {
    const apiServer = await ApiServer.start(workplace, shape);
    const server = await startCoreDns(workplace, binary, apiServer.kubeconfig, 'all cores');
    try {
      const last = describeCluster(shape).services.at(-1);
      await waitUntilAnswers(server.process, server.port, last === undefined ? '' : toServiceName(last));
      const watch = (goOn: (done: number) => boolean) =>
        watchChanges(makeProbe(apiServer), server.port, goOn);
      rows.push([`CoreDNS, ${shape.services} services`, await watch(countTo(QUIET_CHANGES))]);
      if (shape !== LARGE) continue;
      apiServer.startChanges(CHANGES_PER_SECOND);
      const end = machineTime() + CHANGING_MILLISECONDS;
      const delays = await watch(() => machineTime() < end);
      const rate = Math.round(await apiServer.stopChanges());
      rows.push([`CoreDNS, ${shape.services} services, ${rate} changes a second`, delays]);
    } finally {
      await Promise.all([server.process.stop(), apiServer.stop()]);
    }
  }
  return rows;
}

function makeProbe(apiServer: ApiServer): Probe {
  return { name: toServiceName(PROBE), point: (address) => apiServer.pointProbe(address) };
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
    server = await startPortolan(workplace, apiServer.kubeconfig, 'all cores');
    return await perform({ apiServer, server, questions });
  } finally {
    await Promise.all([server?.process.stop(), apiServer.stop()]);
  }
}

function countTo(times: number): (done: number) => boolean {
  return (done) => done < times;
}

/** @param port that of the server which is asked */
async function watchChanges(probe: Probe, port: number, goOn: (done: number) => boolean): Promise<Delays> {
  const client = new DnsClient(port);
  const random = createRandom(port);
  const latencies: number[] = [];
  try {
    while (goOn(latencies.length)) {
      latencies.push(await watchOne(probe, client, podAddress(6_000_000 + latencies.length)));
      await sleep(random() * MAX_PAUSE_MILLISECONDS);
    }
    return latencies;
  } finally {
    client.close();
  }
}

async function watchOne(probe: Probe, client: DnsClient, address: string): Promise<number> {
  const sent = probe.point(address);
  const isNew = (data: readonly unknown[]) => data.length === 1 && data[0] === address;
  if (!(await client.askUntil(probe.name, 'A', isNew, PATIENCE_MILLISECONDS, 0)))
    throw new Error(`a change was never seen: ${probe.name} at ${address}, ${PATIENCE_MILLISECONDS} ms`);
  const seenAt = machineTime();
  // A real API server may send the event before it answers the write.
  return Math.max(0, seenAt - (await sent));
}

/** Latencies first, without any load: full load takes all the time that a core has. Then load with changes and without. */
async function measureAmongChanges(workplace: Workplace, stage: Stage): Promise<Busy> {
  const { rounds, say } = workplace;
  const { apiServer, server } = stage;
  apiServer.startChanges(CHANGES_PER_SECOND);
  const end = machineTime() + CHANGING_MILLISECONDS;
  const latencies = await watchChanges(makeProbe(apiServer), server.port, () => machineTime() < end);
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

function judge(small: Delays, large: Delays, busy: Busy): readonly Goal[] {
  return [
    ...judgeDelays(`${SMALL.services} services`, small),
    ...judgeDelays(`${LARGE.services} services`, large),
    {
      what: `p99, ${CHANGES_PER_SECOND} changes a second`,
      value: percentile(busy.latencies, 99),
      limit: 20,
      unit: 'ms',
    },
    {
      what: "the reader's time per query with changes against without",
      value: summarize(busy.costBusy).median / summarize(busy.costQuiet).median,
      limit: 1.1,
      unit: 'times',
    },
  ];
}

function judgeDelays(title: string, delays: Delays): readonly Goal[] {
  const unit = 'ms';
  return [
    { what: `p50, ${title}`, value: percentile(delays, 50), limit: 1, unit },
    { what: `p99, ${title}`, value: percentile(delays, 99), limit: 5, unit },
  ];
}
