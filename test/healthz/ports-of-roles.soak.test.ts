/**
 * Every HTTP port of every role, while a thousand hostile connections are open to it: its probes are answered, its process holds few of
 * the connections, and ends when it is told to.
 */
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { get } from 'node:http';
import { Worker } from 'node:worker_threads';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import type { HostileConnections } from './hostile-connections-thread.ts';

const HOST = '127.0.0.1';
/** Nobody listens there. */
const NOWHERE = `http://${HOST}:1`;
const PROBES = 5;
const CONNECTIONS = 1_000;
/** Milliseconds in which a probe is answered, on a machine with other work. */
const PROBE_TIMEOUT = 20_000;
/** The bound of a port is 256; the others are those for DNS, signals and companions. */
const MAX_SOCKETS = 256 + 64;

interface RolePort {
  readonly path: string;
  /** The arguments that open the port. */
  readonly words: (port: number) => readonly string[] | Promise<readonly string[]>;
}

const serve = async (...flags: readonly string[]) => [
  'serve',
  '--example',
  '--upstream=none',
  `--dns-bind-address=${HOST}`,
  `--dns-port=${await findFreePort(HOST)}`,
  '--lameduck=0s',
  ...flags,
];

async function writeCorefile(directive: string): Promise<string> {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort(HOST);
  return await folder.write('Corefile', `.:${port} {\n bind ${HOST}\n ${directive}\n whoami\n}\n`);
}

const PORTS: Readonly<Record<string, RolePort>> = {
  serve: { path: '/healthz', words: (port) => serve(`--healthz-port=${HOST}:${port}`) },
  'the dashboard of a server': {
    path: '/',
    words: (port) => serve(`--healthz-port=${HOST}:0`, `--dashboard=${HOST}:${port}`),
  },
  dashboard: { path: '/', words: (port) => ['dashboard', `--port=${port}`, '--socket=/nonexistent'] },
  'the health of a Corefile': {
    path: '/health',
    words: async (port) => ['coredns', '-conf', await writeCorefile(`health ${HOST}:${port}`)],
  },
  'the metrics of a Corefile': {
    path: '/metrics',
    words: async (port) => ['coredns', '-conf', await writeCorefile(`prometheus ${HOST}:${port}`)],
  },
  'the set-up of node-cache': {
    path: '/metrics',
    words: async (port) => [
      'node-cache',
      '-localip',
      HOST,
      '-conf',
      await writeCorefile(''),
      '-setupinterface=false',
      '-setupiptables=false',
      '-metrics-listen-address',
      `${HOST}:${port}`,
    ],
  },
  autoscaler: {
    path: '/healthz',
    words: (port) => [
      'autoscaler',
      `--healthz-port=${port}`,
      `--kube-master-url=${NOWHERE}`,
      '--namespace=kube-system',
      '--configmap=dns-autoscaler',
      '--target=deployment/coredns',
    ],
  },
  sidecar: {
    path: '/healthz',
    words: (port) => ['sidecar', `--prometheus-addr=${HOST}`, `--prometheus-port=${port}`],
  },
  healthz: { path: '/healthz', words: (port) => ['healthz', `-port=${port}`, '-cmd=true', '-period=100ms'] },
  kube2sky: {
    path: '/healthz',
    words: (port) => [
      'kube2sky',
      `-healthz-port=${port}`,
      `-kube-master-url=${NOWHERE}`,
      `-etcd-server=${NOWHERE}`,
    ],
  },
};

let entry: URL;
const threads: Worker[] = [];

beforeAll(async () => {
  entry = await bundleThread('test/healthz/hostile-connections-thread.ts');
});

afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.terminate()));
  await endAllPrograms();
});

/** The status of a request by a connection of its own, or the error. */
function probe(port: number, path: string): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT);
    const request = get({ host: HOST, port, path, agent: false, signal }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    request.once('error', (error) => resolve(error.message));
  });
}

function countSockets(processId: number): number {
  const folder = `/proc/${processId}/fd`;
  return readdirSync(folder).filter((descriptor) => {
    try {
      return readlinkSync(`${folder}/${descriptor}`).startsWith('socket:');
    } catch {
      // It was closed meanwhile.
      return false;
    }
  }).length;
}

it.each(Object.entries(PORTS))('hostile connections do no harm to %s', async (_role, { path, words }) => {
  const port = await findFreePort(HOST);
  const program = runPortolan(await words(port));
  await expect.poll(() => probe(port, path)).toBe(200);
  const workerData: HostileConnections = { port, path, connections: CONNECTIONS, clients: 20, kind: 'mixed' };
  const thread = new Worker(entry, { workerData });
  threads.push(thread);
  await once(thread, 'message');
  const results: (number | string | undefined)[] = [];
  for (let turn = 0; turn < PROBES; turn += 1) results.push(await probe(port, path));
  expect(results).toEqual(Array.from({ length: PROBES }, () => 200));
  expect(countSockets(program.process.pid ?? 0)).toBeLessThan(MAX_SOCKETS);
  program.signal('SIGTERM');
  expect((await program.exit).signal).toBeNull();
});
