/**
 * The first probe of a kubelet, which comes within the first second of a container: a closed port, or a reply that is not right yet,
 * costs the period of the probe.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, describe, expect, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const HOST = '127.0.0.1';

interface Ports {
  readonly dns: number;
  readonly health: number;
  readonly ready: number;
}

interface ProbedRole {
  readonly path: string;
  /** A file that is read when the code of the role is loaded. Default: the bundle of servers. */
  readonly code?: RegExp;
  words(ports: Ports): Promise<readonly string[]>;
}

const listening = ({ dns, ready }: Ports) => [
  `--dns-bind-address=${HOST}`,
  `--dns-port=${dns}`,
  `--healthz-port=${HOST}:${ready}`,
  '--example',
];

async function writeCorefile({ dns, health, ready }: Ports, cluster: string): Promise<string> {
  const file = join((await makeTemporaryFolder()).path, 'Corefile');
  const endpoints = `health ${HOST}:${health}\n ready ${HOST}:${ready}`;
  await writeFile(file, `.:${dns} {\n bind ${HOST}\n ${endpoints}\n ${cluster}\n cache 30\n}\n`);
  return file;
}

async function writeClusterCorefile(ports: Ports): Promise<string> {
  const api = await ApiServerDouble.start();
  onTestFinished(() => api.stop());
  return await writeCorefile(ports, `kubernetes cluster.local {\n endpoint ${api.url}\n }`);
}

const ROLES: Readonly<Record<string, ProbedRole>> = {
  serve: {
    path: '/readiness',
    words: async (ports) => ['serve', ...listening(ports)],
  },
  'kube-dns': {
    path: '/readiness',
    words: async (ports) => ['kube-dns', ...listening(ports)],
  },
  coredns: {
    path: '/ready',
    words: async (ports) => ['coredns', '-conf', await writeClusterCorefile(ports)],
  },
  'coredns -compat': {
    path: '/ready',
    words: async (ports) => ['coredns', '-compat=1.14', '-conf', await writeClusterCorefile(ports)],
  },
  'node-cache': {
    path: '/ready',
    words: async (ports) => [
      'node-cache',
      '-conf',
      await writeCorefile(ports, 'whoami'),
      '-localip',
      HOST,
      '-setupinterface=false',
      '-setupiptables=false',
      '-metrics-listen-address',
      `${HOST}:0`,
    ],
  },
  sidecar: {
    path: '/healthz',
    code: /\/sidecar-\w+\.js/,
    words: async ({ ready }) => ['sidecar', `--prometheus-addr=${HOST}`, `--prometheus-port=${ready}`],
  },
};

/** Milliseconds that a probe is held, a little less for other clocks. */
const HELD = 700;

interface Reply {
  readonly status: number | undefined;
  /** Milliseconds from the request to the reply. */
  readonly took: number;
}

/** One probe, which tries again only while the port is closed. */
function probe(port: number, path: string): Promise<Reply> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const request = get({ host: HOST, port, path, agent: false }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, took: performance.now() - began });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') setTimeout(() => resolve(probe(port, path)), 1);
      else reject(error);
    });
  });
}

describe.each(Object.entries(ROLES))('%s', (_name, { path, code = /\/server\.cjs/, words }) => {
  itWithTool(
    'strace',
    'opens its port before its code is loaded, and answers the first probe right',
    async () => {
      const ports = { dns: await findFreePort(), health: await findFreePort(), ready: await findFreePort() };
      const trace = join((await makeTemporaryFolder()).path, 'trace');
      const through = ['strace', '-D', '-f', '-e', 'trace=openat,bind', '-o', trace];
      const program = runPortolan(await words(ports), { through });
      const { status, took } = await probe(ports.ready, path);
      // A machine that is too slow for the time of a probe gets the reason.
      expect(status, program.errors).toBe(took < HELD ? 200 : status === 503 ? 503 : 200);
      const order = (await readFile(trace, 'utf8')).split('\n').flatMap((line) => {
        if (line.includes(`bind(`) && line.includes(`htons(${ports.ready})`)) return 'port';
        return code.test(line) ? 'code' : [];
      });
      expect(order.slice(0, 2)).toEqual(['port', 'code']);
    },
  );
});
