/**
 * Probes of the kubelet while other clients hold thousands of connections to the same port, with real sockets.
 */
import { once } from 'node:events';
import { get } from 'node:http';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import type { HostileConnections } from './hostile-connections-thread.ts';

const PROBES = 15;
/**
 * Milliseconds that a probe has. The kubelet's default is a second; a machine that runs other tests at once is slower, and where
 * probes starve none is answered in a minute. `npm run bench -- hostile` measures them.
 */
const PROBE_TIMEOUT = 10_000;
const CONNECTIONS = 2_000;

let entry: URL;
const threads: Worker[] = [];

beforeAll(async () => {
  entry = await bundleThread('test/healthz/hostile-connections-thread.ts');
});

afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.terminate()));
  await endAllPrograms();
});

/** Milliseconds until a server has accepted what waits before the first probe, on a machine with other work. */
const START_TIMEOUT = 20_000;

/** One probe, by a connection of its own as the kubelet makes it. */
function probe(port: number, timeout = PROBE_TIMEOUT): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeout);
    const request = get({ host: '127.0.0.1', port, path: '/healthz', agent: false, signal }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    request.once('error', (error) => resolve(error.message));
  });
}

/** The program among hostile connections, each of which has been open, and the statuses of the probes. */
async function probeAmong(hostile: Omit<HostileConnections, 'port' | 'connections'>) {
  const program = runPortolan(['healthz', '-port=0', '-cmd=true', '-period=100ms']);
  const port = Number((await program.heard('started'))['port']);
  await expect.poll(() => probe(port)).toBe(200);
  const workerData: HostileConnections = { port, connections: CONNECTIONS, ...hostile };
  const thread = new Worker(entry, { workerData });
  threads.push(thread);
  await once(thread, 'message');
  // Connections are accepted in order: when this one is answered, all that were there before it have been accepted.
  expect(await probe(port, START_TIMEOUT)).toBe(200);
  const results: (number | string | undefined)[] = [];
  for (let turn = 0; turn < PROBES; turn += 1) results.push(await probe(port));
  return { program, results };
}

const ALL_ANSWERED = Array.from({ length: PROBES }, () => 200);

it.each([
  ['half a request', 'of the same address', 1, 'half', 'client-limit'],
  ['half a request', 'of 40 addresses', 40, 'half', 'total-limit'],
  ['no octet', 'of 40 addresses', 40, 'silent', 'total-limit'],
] as const)(
  'all are answered while 2,000 connections with %s %s are open',
  async (_what, _where, clients, kind, expected) => {
    const { program, results } = await probeAmong({ clients, kind });
    expect(results).toEqual(ALL_ANSWERED);
    const { reason } = await program.heard('HTTP connections closed');
    expect(reason).toBe(expected);
  },
);

it('all are answered while 2,000 clients do not read their answers', async () => {
  const { results } = await probeAmong({ clients: 40, kind: 'unread' });
  expect(results).toEqual(ALL_ANSWERED);
});

it.each([
  ['of the same address', 1],
  ['of 40 addresses', 40],
])('all are answered while 2,000 connections %s are opened again and again', async (_where, clients) => {
  const { results } = await probeAmong({ clients, kind: 'reopened' });
  expect(results).toEqual(ALL_ANSWERED);
});

it.each([
  ['of the same address', 1],
  ['of 40 addresses', 40],
])(
  'all are answered while 2,000 connections %s are opened again and again with 50 requests each',
  async (_where, clients) => {
    const { results } = await probeAmong({ clients, kind: 'pipelined' });
    expect(results).toEqual(ALL_ANSWERED);
  },
);
