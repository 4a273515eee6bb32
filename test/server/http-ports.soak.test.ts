/**
 * The HTTP ports of every role: they open, refuse requests that are too large or too slow and clients with too many connections, stay
 * open when the next configuration or the next process takes over, and close at the stop.
 */

import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { FLAGS, nodes, scalable } from '../autoscaler/world.ts';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterAll(endAllPrograms);

const HOST = '127.0.0.1';
const DEADLINE = { deadline: 30_000 };

interface Role {
  /** A path of each port. */
  readonly paths: readonly string[];
  /** The words of a command that serves these ports. @param dns the port of its DNS, if it has one */
  words(ports: readonly number[], dns: number): Promise<readonly string[]>;
}

async function writeCorefile([health, ready, metrics]: readonly number[], dns: number): Promise<string> {
  const folder = await makeTemporaryFolder(afterFile);
  return await folder.write(
    'Corefile',
    `.:${dns} {\n bind ${HOST}\n health ${HOST}:${health}\n ready ${HOST}:${ready}\n prometheus ${HOST}:${metrics}\n whoami\n}\n`,
  );
}

const listening = (port: number | undefined, dns: number) => [
  `--dns-bind-address=${HOST}`,
  `--dns-port=${dns}`,
  `--healthz-port=${HOST}:${port}`,
  '--example',
  '--upstream=none',
  '--takeover',
];

const COREFILE_PATHS = ['/health', '/ready', '/metrics'];

const NODE_CACHE: Role = {
  paths: [...COREFILE_PATHS, '/metrics'],
  words: async (ports, dns) => [
    'node-cache',
    '-conf',
    await writeCorefile(ports, dns),
    '-localip',
    HOST,
    '-takeover',
    '-setupinterface=false',
    '-setupiptables=false',
    '-metrics-listen-address',
    `${HOST}:${ports[3]}`,
  ],
};

const ROLES: Readonly<Record<string, Role>> = {
  serve: { paths: ['/healthz'], words: async ([port], dns) => ['serve', ...listening(port, dns)] },
  'kube-dns': { paths: ['/readiness'], words: async ([port], dns) => ['kube-dns', ...listening(port, dns)] },
  coredns: {
    paths: COREFILE_PATHS,
    words: async (ports, dns) => ['coredns', '-conf', await writeCorefile(ports, dns)],
  },
  'node-cache': NODE_CACHE,
  sidecar: {
    paths: ['/healthz'],
    words: async ([port]) => ['sidecar', `--prometheus-addr=${HOST}`, `--prometheus-port=${port}`],
  },
  autoscaler: {
    paths: ['/healthz'],
    async words([port]) {
      const api = await ApiServerDouble.start({ objects: [...nodes(5), scalable('coredns', 1)] });
      afterFile(() => api.stop());
      return ['autoscaler', `--healthz-port=${port}`, ...FLAGS, `--kube-master-url=${api.url}`];
    },
  },
  healthz: { paths: ['/healthz'], words: async ([port]) => ['healthz', `-port=${port}`, '-cmd=true'] },
};

interface Place {
  readonly path: string;
  readonly port: number;
}

async function prepare({ paths, words }: Role) {
  const ports: number[] = [];
  for (const _ of paths) ports.push(await findFreePort());
  const command = await words(ports, await findFreePort());
  return { command, places: paths.map((path, index) => ({ path, port: ports[index] ?? 0 })) };
}

/** The status of the reply, or the code of the error. */
function request(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  return new Promise<number | string>((resolve) => {
    const sent = get({ host: HOST, port, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** Until the reply is 200. */
async function waitForOk(program: Program, port: number, path: string): Promise<void> {
  const isOk = async () => {
    const result = await request(port, path);
    if (program.ended !== undefined)
      throw new Error(`${path}: ${result}: ${program.output}${program.errors}`);
    return result === 200;
  };
  await waitUntil(`200 from ${path}`, isOk, DEADLINE);
}

async function waitForOpen(program: Program, places: readonly Place[]): Promise<void> {
  for (const { path, port } of places) await waitForOk(program, port, path);
}

/** A connection, which may be closed already. */
async function open(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, HOST).on('error', () => {});
  socket.resume();
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  if (text !== '') socket.write(text);
  return socket;
}

function untilClosed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve();
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}

describe.concurrent.each(Object.entries(ROLES))('the ports of %s', (_name, role) => {
  it('open, bound what a client may take, and close at the stop', async () => {
    const { command, places } = await prepare(role);
    const program = runPortolan(command);
    await waitForOpen(program, places);
    for (const { path, port } of places) {
      expect(await request(port, path, { large: 'x'.repeat(20_000) })).not.toBe(200);
      const idle = await Promise.all(Array.from({ length: 80 }, () => open(port)));
      await waitUntil(
        'the end of the connections beyond the bound',
        () => idle.filter(({ closed }) => closed).length >= 80 - 64,
        DEADLINE,
      );
      // They also end by their time: the log says which bound it was.
      expect(program.errors + program.output).toContain('client-limit');
      for (const socket of idle) socket.destroy();
      await waitForOk(program, port, path);
    }
    // With no other connection, only its slowness closes one.
    const half = await Promise.all(places.map(({ port }) => open(port, 'GET /healthz HTTP/1.1\r\nHost: x')));
    await Promise.all(half.map(untilClosed));
    const last = await Promise.all(places.map(({ port }) => open(port, 'GET / HTTP/1.1\r\n')));
    const closed = last.map(untilClosed);
    program.signal('SIGTERM');
    await program.exit;
    await Promise.all(closed);
    for (const { path, port } of places) expect(await request(port, path)).toBe('ECONNREFUSED');
  });
});

/** Asks a port again and again. @returns a function that ends it, and says why connections failed */
function askAllTheTime({ port, path }: Place): () => Promise<readonly string[]> {
  const failures: string[] = [];
  let isEnding = false;
  const asking = (async () => {
    while (!isEnding) {
      const result = await request(port, path);
      // The kernel resets what waits for a process that closes its share of the port: a client tries again.
      if (typeof result === 'string' && result !== 'ECONNRESET') failures.push(result);
    }
  })();
  return async () => {
    isEnding = true;
    await asking;
    return failures;
  };
}

describe.concurrent('the ports stay open', () => {
  it('when the next node-cache takes over', async () => {
    const { command, places } = await prepare(NODE_CACHE);
    const first = runPortolan(command);
    await waitForOpen(first, places);
    const ends = places.map(askAllTheTime);
    const second = runPortolan(command);
    await waitUntil('the second process', () => second.output.includes('linux/'), DEADLINE);
    first.signal('SIGTERM');
    await first.exit;
    await waitForOpen(second, places);
    const failures = await Promise.all(ends.map((end) => end()));
    expect(failures.flat()).toEqual([]);
  });

  it.each(['serve', 'kube-dns'])('when the next process waits for them: %s', async (name) => {
    const { command, places } = await prepare(ROLES[name] ?? NODE_CACHE);
    const first = runPortolan(command);
    await waitForOpen(first, places);
    const second = runPortolan([...command, '--log-format=json']);
    await second.heard('HTTP port in use, waiting for it');
    await second.heard('serving');
    await waitForOpen(first, places);
    first.signal('SIGTERM');
    await first.exit;
    await second.heard('HTTP port taken over');
    await waitForOpen(second, places);
  });

  it('when a Corefile changes', async () => {
    const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
    const dns = await findFreePort();
    const conf = await writeCorefile(ports, dns);
    const program = runPortolan(['coredns', '-conf', conf]);
    const places = COREFILE_PATHS.map((path, index) => ({ path, port: ports[index] ?? 0 }));
    await waitForOpen(program, places);
    const ends = places.map(askAllTheTime);
    const count = () => program.output.split('Reloading complete').length - 1;
    for (const turn of [1, 2, 3]) {
      program.signal('SIGUSR1');
      await waitUntil('the reload', () => count() === turn, DEADLINE);
    }
    const failures = await Promise.all(ends.map((end) => end()));
    expect(failures.flat()).toEqual([]);
  });
});
