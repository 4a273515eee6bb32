/**
 * Probes of the kubelet while others hold thousands of connections to the same port, with real sockets.
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

it.each([
  ['half a request', 'of the same address', 1, 'half'],
  ['half a request', 'of 40 addresses', 40, 'half'],
  ['no octet', 'of 40 addresses', 40, 'silent'],
  ['a request whose answer is not read', 'of 40 addresses', 40, 'unread'],
] as const)(
  'all are answered while 2,000 connections with %s %s are open',
  async (_what, _where, clients, kind) => {
    const program = runPortolan(['healthz', '-port=0', '-cmd=true', '-period=100ms']);
    const port = Number((await program.heard('started'))['port']);
    await expect.poll(() => probe(port), { timeout: 10_000 }).toBe(200);
    const workerData: HostileConnections = { port, connections: CONNECTIONS, clients, kind };
    const thread = new Worker(entry, { workerData });
    threads.push(thread);
    await once(thread, 'message');
    // Connections are accepted in order: when this one is answered, all others were accepted.
    expect(await probe(port, START_TIMEOUT)).toBe(200);
    const results: (number | string | undefined)[] = [];
    for (let turn = 0; turn < PROBES; turn += 1) results.push(await probe(port));
    expect(results).toEqual(Array.from({ length: PROBES }, () => 200));
    const { reason } = await program.heard('HTTP connections closed');
    expect(reason).toBe(clients === 1 ? 'client-limit' : 'total-limit');
  },
);
