/**
 * The effect of changes of a service with thousands of endpoints on all others: the latency of questions that the main thread
 * forwards, without changes and with ten changed slices a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from './api-server.ts';
import type { ClusterShape } from './cluster.ts';
import { DnsClient } from './dns-client.ts';
import { machineTime } from './machine.ts';
import { DOMAIN } from './outside.ts';
import { createRandom } from './random.ts';
import type { Goal, Report } from './report.ts';
import { startPortolan } from './servers/portolan.ts';
import { startUpstream } from './servers/upstream.ts';
import { percentile } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const SHAPE: ClusterShape = { services: 100, endpoints: 200, ofLargeService: 10_000 };
const DIALECTS = ['coredns', 'kube-dns'] as const;
const SLICES_PER_SECOND = 10;
/** Between two questions: up to so long, so that no rhythm of the server's own is met. */
const MAX_PAUSE_MILLISECONDS = 8;
const GOAL_MILLISECONDS = 2;

interface Row {
  readonly dialect: (typeof DIALECTS)[number];
  /** Milliseconds. */
  readonly quiet: readonly number[];
  readonly beside: readonly number[];
  readonly slicesPerSecond: number;
}

export async function measureSlices(workplace: Workplace): Promise<Report> {
  const upstream = await startUpstream(workplace);
  try {
    const rows: Row[] = [];
    for (const dialect of DIALECTS) rows.push(await measureDialect(workplace, upstream.port, dialect));
    return {
      measurement: 'slices',
      tables: [
        {
          title: `Forwarded questions beside changed slices of ${SHAPE.ofLargeService} endpoints, in ms`,
          columns: ['', 'slices a second', 'p50', 'p99', 'most'],
          rows: rows.flatMap(({ dialect, quiet, beside, slicesPerSecond }) => [
            [dialect, '0', ...printPercentiles(quiet)],
            [dialect, slicesPerSecond.toFixed(1), ...printPercentiles(beside)],
          ]),
        },
      ],
      goals: rows.map(
        ({ dialect, beside }): Goal => ({
          what: `forwarded questions' median beside slices, ${dialect}`,
          value: percentile(beside, 50),
          limit: GOAL_MILLISECONDS,
          unit: 'ms',
        }),
      ),
      data: rows,
    };
  } finally {
    await upstream.process.stop();
  }
}

const printPercentiles = (latencies: readonly number[]): readonly string[] =>
  [50, 99, 100].map((percent) => percentile(latencies, percent).toFixed(2));

async function measureDialect(
  workplace: Workplace,
  upstreamPort: number,
  dialect: Row['dialect'],
): Promise<Row> {
  const apiServer = await ApiServer.start(workplace, SHAPE);
  const flags = [`--dialect=${dialect}`, `--upstream=127.0.0.1:${upstreamPort}`];
  const server = await startPortolan(workplace, apiServer.kubeconfig, 'all cores', {
    name: 'Portolan',
    flags,
  });
  const client = new DnsClient(server.port);
  try {
    await ask(client, workplace.seconds);
    const quiet = await ask(client, workplace.seconds);
    apiServer.startSlices(SLICES_PER_SECOND);
    // What is compiled when it is first needed is compiled then.
    await ask(client, workplace.seconds);
    const beside = await ask(client, workplace.seconds);
    const slicesPerSecond = await apiServer.stopChanges();
    workplace.say(
      `${dialect}: p50 ${printPercentiles(quiet)[0]} ms, ${printPercentiles(beside)[0]} beside slices`,
    );
    return { dialect, quiet, beside, slicesPerSecond };
  } finally {
    client.close();
    await Promise.all([server.process.stop(), apiServer.stop()]);
  }
}

const random = createRandom(53);
let asked = 0;

/** New names, of a type that readers leave to the main thread. @returns how long each answer took, in milliseconds */
async function ask(client: DnsClient, seconds: number): Promise<readonly number[]> {
  const took: number[] = [];
  for (const end = machineTime() + seconds * 1000; machineTime() < end; ) {
    const began = machineTime();
    asked += 1;
    await client.ask(`n${asked}.there.${DOMAIN}`, 'TXT');
    took.push(machineTime() - began);
    await sleep(random() * MAX_PAUSE_MILLISECONDS);
  }
  return took;
}
