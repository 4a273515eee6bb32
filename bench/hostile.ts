/**
 * The effect of clients that attack the server on other clients: probes of the HTTP ports, new clients over TCP, and outside
 * names during a flood of ANY questions, all at the same address.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { frame } from '@portolan/dns/frames.ts';
import { encodeMessage } from '@portolan/dns/message.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import type { HostileConnections } from '../test/healthz/hostile-connections-thread.ts';
import type { FloodPlan } from '../test/soak/listen/any-flood-thread.ts';
import type { AttackPlan } from '../test/soak/listen/hostile-tcp-thread.ts';
import { readKernelDrops } from '../test/support/kernel-drops.ts';
import { machineTime } from './machine.ts';
import { readMemory } from './memory.ts';
import { DOMAIN } from './outside.ts';
import type { Goal, Report } from './report.ts';
import { EXAMPLE_NAMES, startPortolanResolver } from './servers/portolan-resolver.ts';
import type { DnsServer, ProbedServer } from './servers/server.ts';
import { startUpstream } from './servers/upstream.ts';
import { percentile } from './statistics.ts';
import type { Workplace } from './workplace.ts';

const PROBES = 15;
const CONNECTIONS = 2_000;
const CLIENTS = 40;
const KINDS = ['half', 'reopened', 'pipelined'] as const;
const NEW_CLIENTS = 100;
const ANY_PER_SECOND = 200_000;
const ASKERS = 10;
const EVERY_MILLISECONDS = 20;
const WAIT_MILLISECONDS = 5_000;

interface Row {
  readonly attack: string;
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: string;
}

export async function measureHostile(workplace: Workplace): Promise<Report> {
  const upstream = await startUpstream(workplace);
  const servers: DnsServer[] = [upstream];
  const start = async () => {
    const server = await startPortolanResolver(workplace, upstream.port, 'all cores');
    servers.push(server);
    return server;
  };
  try {
    const rows: Row[] = [];
    for (const kind of KINDS) rows.push(await measureProbes(workplace, await start(), kind));
    rows.push(...(await measureNewClients(workplace, await start())));
    rows.push(...(await measureAnyFlood(workplace, await start())));
    const goals: Goal[] = rows.map(({ attack, what, value, limit, unit }) => ({
      what: `${attack}: ${what}`,
      value,
      limit,
      unit,
    }));
    return { measurement: 'hostile', tables: [], goals, data: rows };
  } finally {
    await Promise.all(servers.map((server) => server.process.stop()));
  }
}

function startThread(workplace: Workplace, name: string, workerData: unknown): Worker {
  return new Worker(pathToFileURL(join(workplace.folder, `${name}.mjs`)), { workerData });
}

/** Milliseconds of the slowest of the probes that a kubelet would make, each on a connection of its own. */
async function measureProbes(
  workplace: Workplace,
  server: ProbedServer,
  kind: HostileConnections['kind'],
): Promise<Row> {
  const port = server.healthPort;
  const plan: HostileConnections = { port, connections: CONNECTIONS, clients: CLIENTS, kind };
  const attack = startThread(workplace, 'hostile-connections-thread', plan);
  await once(attack, 'message');
  const took: number[] = [];
  for (let probe = 0; probe < PROBES; probe++) {
    const began = machineTime();
    await probeHealth(port);
    took.push(machineTime() - began);
  }
  await attack.terminate();
  workplace.say(`${CONNECTIONS} connections, ${kind}: probes' median ${percentile(took, 50).toFixed(0)} ms`);
  return {
    attack: `${CONNECTIONS} HTTP connections, ${kind}`,
    what: 'slowest probe',
    value: Math.max(...took),
    limit: 1_000,
    unit: 'ms',
  };
}

function probeHealth(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(WAIT_MILLISECONDS);
    const request = get({ host: '127.0.0.1', port, path: '/healthz', agent: false, signal }, (response) =>
      response.resume().once('end', resolve),
    );
    request.once('error', reject);
  });
}

/** New clients over TCP while others ask again and again and take no answer. */
async function measureNewClients(workplace: Workplace, server: DnsServer): Promise<readonly Row[]> {
  const query = frame(encodeMessage(makeQuery(EXAMPLE_NAMES[0], 'A')));
  const plan: AttackPlan = {
    port: server.port,
    addresses: 9,
    connectionsPerAddress: 10,
    octets: Buffer.concat(Array<Uint8Array>(100).fill(query)),
  };
  const before = readMemory(server.process.pid).resident;
  const attack = startThread(workplace, 'hostile-tcp-thread', plan);
  await sleep(3_000);
  const took: number[] = [];
  for (let client = 0; client < NEW_CLIENTS; client++) {
    const began = machineTime();
    await askOnce(server.port, `127.0.9.${client + 1}`, query);
    took.push(machineTime() - began);
  }
  const growth = readMemory(server.process.pid).peak - before;
  await attack.terminate();
  workplace.say(`TCP: new clients' median ${percentile(took, 50).toFixed(0)} ms`);
  const name = '90 TCP connections that read nothing';
  return [
    { attack: name, what: 'slowest new client', value: Math.max(...took), limit: 1_000, unit: 'ms' },
    { attack: name, what: 'growth of the process', value: growth, limit: 32, unit: 'MiB' },
  ];
}

function askOnce(port: number, localAddress: string, query: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => socket.write(query));
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject).once('close', () => reject(new Error('closed without an answer')));
  });
}

/** Outside names of clients beside one that floods, and what the kernel dropped of all packets. */
async function measureAnyFlood(workplace: Workplace, server: DnsServer): Promise<readonly Row[]> {
  const counts = new SharedArrayBuffer(8);
  const words = new Int32Array(counts);
  const plan: FloodPlan = { port: server.port, perSecond: ANY_PER_SECOND, counts };
  const attack = startThread(workplace, 'any-flood-thread', plan);
  await sleep(1_000);
  const drops = () => readKernelDrops(({ port }) => port === server.port);
  const sentBefore = Atomics.load(words, 1);
  const droppedBefore = drops();
  const began = machineTime();
  const { asked, answered } = await askOutsideNames(server.port, workplace.seconds);
  const sent = Atomics.load(words, 1) - sentBefore;
  const perSecond = (sent / (machineTime() - began)) * 1000;
  const dropped = ((drops() - droppedBefore) / sent) * 100;
  Atomics.store(words, 0, 1);
  await once(attack, 'exit');
  workplace.say(
    `${perSecond.toFixed(0)} ANY a second; the kernel dropped ${dropped.toFixed(1)} % of all packets`,
  );
  return [
    {
      attack: `${(perSecond / 1000).toFixed(0)},000 ANY a second`,
      what: "others' outside names not answered",
      value: (1 - answered / asked) * 100,
      limit: 1,
      unit: '%',
    },
  ];
}

async function askOutsideNames(port: number, seconds: number): Promise<{ asked: number; answered: number }> {
  let asked = 0;
  let answered = 0;
  const sockets = Array.from({ length: ASKERS }, (_, index) => {
    const socket = createSocket('udp4');
    socket.bind(0, `127.0.0.${71 + index}`);
    socket.on('message', () => answered++);
    return socket;
  });
  const end = machineTime() + seconds * 1000;
  while (machineTime() < end) {
    for (const socket of sockets) {
      const name = `n${asked}.there.${DOMAIN}`;
      asked++;
      socket.send(encodeMessage(makeQuery(name, 'A')), port, '127.0.0.1');
    }
    await sleep(EVERY_MILLISECONDS);
  }
  const last = machineTime() + WAIT_MILLISECONDS;
  while (answered < asked && machineTime() < last) await sleep(EVERY_MILLISECONDS);
  for (const socket of sockets) socket.close();
  return { asked, answered };
}
