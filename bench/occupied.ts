/**
 * The memory of a server: as a resolver after a load, and per thousand endpoints of a large cluster.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiServer } from './api-server.ts';
import type { ClusterShape } from './cluster.ts';
import { putLoad } from './dnsperf.ts';
import { type Memory, readMemory } from './memory.ts';
import { listNewNames, saveLines } from './outside.ts';
import type { Goal, Report, Table } from './report.ts';
import { startPortolan } from './servers/portolan.ts';
import { startPortolanResolver } from './servers/portolan-resolver.ts';
import type { DnsServer } from './servers/server.ts';
import { startUpstream } from './servers/upstream.ts';
import type { Workplace } from './workplace.ts';

const SMALLER: ClusterShape = { services: 10_000, endpoints: 38_000 };
const LARGER: ClusterShape = { services: 10_000, endpoints: 138_000 };
const LOAD_SECONDS = 10;
const OUTSTANDING = 50;
const SETTLE_MILLISECONDS = 10_000;

interface Row {
  readonly title: string;
  readonly memory: Memory;
}

export async function measureOccupied(workplace: Workplace): Promise<Report> {
  const cache = await measureCache(workplace);
  const clusters = [await measureCluster(workplace, SMALLER), await measureCluster(workplace, LARGER)];
  const rows = [cache, ...clusters];
  return {
    measurement: 'memory',
    tables: [printMemory(rows)],
    goals: judgeGrowth(clusters),
    data: rows,
  };
}

async function measureCache(workplace: Workplace): Promise<Row> {
  const upstream = await startUpstream(workplace);
  try {
    return await loadOnce(workplace, await startPortolanResolver(workplace, upstream.port));
  } finally {
    await upstream.process.stop();
  }
}

/** Names that are all new, so that the cache is as full as it gets. */
async function loadOnce(workplace: Workplace, server: DnsServer): Promise<Row> {
  const { name, process, port } = server;
  try {
    const lines = listNewNames(0, LOAD_SECONDS, 'there');
    const questions = await saveLines(workplace, 'memory', lines);
    await putLoad({ port, questions, seconds: LOAD_SECONDS, outstanding: OUTSTANDING });
    await rm(questions);
    await sleep(SETTLE_MILLISECONDS);
    const memory = readMemory(process.pid);
    workplace.say(`${name}, ${LOAD_SECONDS} s of new names: ${memory.resident.toFixed(1)} MiB`);
    return { title: `${name}, a resolver after ${LOAD_SECONDS} s of new names`, memory };
  } finally {
    await process.stop();
  }
}

async function measureCluster(workplace: Workplace, shape: ClusterShape): Promise<Row> {
  const apiServer = await ApiServer.start(workplace, shape);
  try {
    const { process } = await startPortolan(workplace, apiServer.kubeconfig, 'all cores');
    await sleep(SETTLE_MILLISECONDS);
    const memory = readMemory(process.pid);
    await process.stop();
    return { title: `Portolan, ${shape.services} services, ${shape.endpoints} endpoints`, memory };
  } finally {
    await apiServer.stop();
  }
}

function printMemory(rows: readonly Row[]): Table {
  return {
    title: 'Memory in MiB',
    columns: ['', 'resident', 'anonymous', 'peak'],
    rows: rows.map(({ title, memory: { resident, anonymous, peak } }) => [
      title,
      ...[resident, anonymous, peak].map((mebibytes) => mebibytes.toFixed(1)),
    ]),
  };
}

function judgeGrowth([smaller, larger]: readonly Row[]): readonly Goal[] {
  if (smaller === undefined || larger === undefined) return [];
  const thousands = (LARGER.endpoints - SMALLER.endpoints) / 1000;
  const value = (larger.memory.anonymous - smaller.memory.anonymous) / thousands;
  return [{ what: 'for each 1,000 endpoints more', value, limit: 0.6, unit: 'MiB' }];
}
