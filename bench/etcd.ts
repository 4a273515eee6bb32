/**
 * Names from an etcd: the cost of a query, compared with CoreDNS's plugin if `COREDNS` names its binary, and the latency of a
 * change from its commit to the answer: by itself, among a thousand others a second, and after an outage of etcd.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEndpoint } from '@portolan/etcd/source/client/endpoints.ts';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ServerProcess } from './child-process.ts';
import { type Contestant, judgeCosts, listCosts, measureTurn, printCosts } from './costs.ts';
import { DnsClient } from './dns-client.ts';
import { EtcdProcess } from './etcd-process.ts';
import { findFreePort } from './free-port.ts';
import { machineTime } from './machine.ts';
import { isInstalled } from './programs.ts';
import type { Report, Table } from './report.ts';
import { takeTurns } from './rounds.ts';
import { type DnsServer, waitUntilAnswers } from './servers/server.ts';
import { percentile } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const ZONE = 'bench.test';
const NAMES = 1_000;
const QUIET_CHANGES = 300;
const CHANGES_PER_SECOND = 1_000;
const CHANGING_MILLISECONDS = 30_000;
/** Between two changes that are waited for: up to so long. */
const MAX_PAUSE_MILLISECONDS = 30;
const PATIENCE_MILLISECONDS = 10_000;
/** Times that etcd is killed, and for how long it is away. */
const RETURNS = 10;
const AWAY_MILLISECONDS = 2_000;
const MAX_RETURN_MILLISECONDS = 2_000;
/** Keys that are written in one transaction; etcd takes 128. */
const KEYS_AT_ONCE = 100;
const BUSY_ROUND_MILLISECONDS = 10;

/** How many times less processor time a query may take than with CoreDNS's plugin. */
const GOAL = 1 / 20;

export async function measureEtcd(workplace: Workplace): Promise<Report> {
  if (!isInstalled('etcd')) {
    workplace.say('etcd not found: install the package etcd-server to measure names from it');
    return { measurement: 'etcd', tables: [], goals: [], data: [] };
  }
  const started: { readonly process: ServerProcess }[] = [];
  const etcd = await EtcdProcess.start(workplace);
  started.push(etcd);
  const endpoint = parseEndpoint(etcd.url);
  const store = new Store(
    new EtcdClient({ endpoints: endpoint === undefined ? [] : [endpoint] }, systemClock),
  );
  try {
    await store.fill();
    const servers: Contestant[] = [];
    for (const [name, command, args] of programs(workplace)) {
      const server = await startServer(workplace, { name, command, args, etcd: etcd.url });
      started.push(server);
      servers.push(name === PORTOLAN ? server : { ...server, goal: GOAL });
    }
    if (servers.length === 1) workplace.say('COREDNS does not name its binary: no plugin to compare with');
    const questions = join(workplace.folder, 'questions-etcd');
    const lines = Array.from({ length: NAMES }, (_, index) => `n${index}.${ZONE} ${index % 2 ? 'A' : 'SRV'}`);
    await writeFile(questions, `${lines.join('\n')}\n`);
    const measure = (server: Contestant) => measureTurn(workplace, server, questions, undefined);
    const turns = await takeTurns(servers, workplace.rounds, measure, workplace.say);
    const [portolan] = servers;
    if (portolan === undefined) throw new RangeError('no server was started');
    const quiet = await watchChanges(portolan, store, (done) => done < QUIET_CHANGES);
    const busy = await watchAmongChanges(portolan, store);
    const returns = await watchReturns(portolan, etcd, store);
    return {
      measurement: 'etcd',
      tables: [printCosts('As fast as the server answers', turns), printLatencies({ quiet, busy, returns })],
      goals: [
        ...judgeCosts(turns),
        { what: 'p99 of a change', value: percentile(quiet, 99), limit: 1_000, unit: 'ms' },
        {
          what: `p99 of a change among ${CHANGES_PER_SECOND} a second`,
          value: percentile(busy, 99),
          limit: 100,
          unit: 'ms',
        },
        {
          what: 'current after the return of etcd',
          value: Math.max(...returns),
          limit: MAX_RETURN_MILLISECONDS,
          unit: 'ms',
        },
      ],
      data: { costs: listCosts(turns), quiet, busy, returns },
    };
  } finally {
    store.close();
    await Promise.all(started.map(({ process }) => process.stop()));
  }
}

const PORTOLAN = 'Portolan';

/** Those that answer from a Corefile. */
function programs({ root }: Workplace): readonly (readonly [string, string, readonly string[]])[] {
  const { COREDNS = '' } = process.env;
  const ours = [PORTOLAN, process.execPath, [join(root, 'dist', 'portolan.js'), 'coredns']] as const;
  return COREDNS === '' ? [ours] : [ours, ['CoreDNS', COREDNS, []]];
}

interface Task {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly etcd: string;
}

async function startServer({ folder }: Workplace, { name, command, args, etcd }: Task): Promise<DnsServer> {
  const port = await findFreePort();
  const corefile = join(folder, `Corefile-etcd-${name}`);
  await writeFile(
    corefile,
    `${ZONE}:${port} {\n    bind 127.0.0.1\n    etcd {\n        endpoint ${etcd}\n    }\n}\n`,
  );
  const process = await ServerProcess.start(name, command, [...args, '-conf', corefile], 'all cores');
  await waitUntilAnswers(process, port, `n0.${ZONE}`);
  return { name, process, port };
}

/** The keys of names, as they are written. */
class Store {
  readonly #client: EtcdClient;
  #changes = 0;

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  async fill(): Promise<void> {
    for (let from = 0; from < NAMES; from += KEYS_AT_ONCE)
      await this.#put(
        Array.from({ length: KEYS_AT_ONCE }, (_, index) => [`n${from + index}`, toAddress(from + index)]),
      );
  }

  /** Points one name to another address. @returns the address, once it is committed */
  async point(name: string): Promise<string> {
    this.#changes += 1;
    const address = toAddress(1_000_000 + this.#changes);
    await this.#put([[name, address]]);
    return address;
  }

  /** The same, tried until etcd takes it: a call may have begun while it was away. */
  async pointAgain(name: string): Promise<string> {
    const end = machineTime() + PATIENCE_MILLISECONDS;
    for (;;) {
      try {
        return await this.point(name);
      } catch (error) {
        if (machineTime() > end) throw error;
      }
    }
  }

  /** Changes so many names. */
  async change(count: number): Promise<void> {
    const from = this.#changes;
    this.#changes += count;
    await this.#put(
      Array.from({ length: count }, (_, index) => [`m${(from + index) % NAMES}`, toAddress(from + index)]),
    );
  }

  close(): void {
    this.#client.close();
  }

  async #put(records: readonly (readonly [string, string])[]): Promise<void> {
    const folder = `/skydns/${ZONE.split('.').reverse().join('/')}`;
    const operations = records.map(([name, address]) => {
      const value = Buffer.from(JSON.stringify({ host: address }));
      return { kind: 'put', key: Buffer.from(`${folder}/${name}`), value } as const;
    });
    await this.#client.transact({ conditions: [], operations });
  }
}

function toAddress(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

/** @returns milliseconds from each commit until the address was answered */
async function watchChanges(
  { port }: DnsServer,
  store: Store,
  goOn: (done: number) => boolean,
): Promise<readonly number[]> {
  const client = new DnsClient(port);
  const latencies: number[] = [];
  try {
    while (goOn(latencies.length)) {
      const address = await store.point('probe');
      const committed = machineTime();
      const isNew = (data: readonly unknown[]) => data[0] === address;
      if (!(await client.askUntil(`probe.${ZONE}`, 'A', isNew, PATIENCE_MILLISECONDS)))
        throw new Error(`a change was never seen: probe.${ZONE} at ${address}`);
      latencies.push(machineTime() - committed);
      await sleep(Math.random() * MAX_PAUSE_MILLISECONDS);
    }
    return latencies;
  } finally {
    client.close();
  }
}

async function watchAmongChanges(server: DnsServer, store: Store): Promise<readonly number[]> {
  const end = machineTime() + CHANGING_MILLISECONDS;
  const change = async () => {
    const began = machineTime();
    let done = 0;
    for (let now = began; now < end; now = machineTime()) {
      const due = Math.floor(((now - began) / 1000) * CHANGES_PER_SECOND) - done;
      if (due > 0) await store.change(Math.min(due, KEYS_AT_ONCE));
      done += Math.min(due, KEYS_AT_ONCE);
      await sleep(BUSY_ROUND_MILLISECONDS);
    }
  };
  const [latencies] = await Promise.all([watchChanges(server, store, () => machineTime() < end), change()]);
  return latencies;
}

/**
 * Kills etcd and starts it again.
 *
 * @returns milliseconds from when it is healthy until a change that is written then is answered, once for each time
 */
async function watchReturns(server: DnsServer, etcd: EtcdProcess, store: Store): Promise<readonly number[]> {
  const latencies: number[] = [];
  const client = new DnsClient(server.port);
  try {
    while (latencies.length < RETURNS) {
      await etcd.kill();
      // Long enough for the pauses between retries to have become the longest.
      await sleep(AWAY_MILLISECONDS);
      await etcd.start();
      const returned = machineTime();
      const address = await store.pointAgain('probe');
      const isNew = (data: readonly unknown[]) => data[0] === address;
      if (!(await client.askUntil(`probe.${ZONE}`, 'A', isNew, PATIENCE_MILLISECONDS)))
        throw new Error(`a change after the return of etcd was never seen: probe.${ZONE} at ${address}`);
      latencies.push(machineTime() - returned);
    }
    return latencies;
  } finally {
    client.close();
  }
}

interface Latencies {
  readonly quiet: readonly number[];
  readonly busy: readonly number[];
  readonly returns: readonly number[];
}

function printLatencies({ quiet, busy, returns }: Latencies): Table {
  const makeRow = (title: string, latencies: readonly number[]) => [
    title,
    String(latencies.length),
    ...[50, 99, 100].map((percent) => percentile(latencies, percent).toFixed(1)),
  ];
  return {
    title: 'From the commit in etcd to the answer, in ms',
    columns: ['', 'changes', 'p50', 'p99', 'most'],
    rows: [
      makeRow('alone', quiet),
      makeRow(`among ${CHANGES_PER_SECOND} a second`, busy),
      makeRow('after etcd has returned', returns),
    ],
  };
}
