/**
 * The end of each role in a pod: kube-proxy sends packets of former clients to it for a while, and they are answered.
 */

import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../../support/portolan.ts';
import { HOST, startRole } from '../../support/roles.ts';
import { itWithTool } from '../../support/tools.ts';

afterEach(endAllPrograms);

/** As kubelet sets it in each pod. */
const IN_POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
/** Queries after the stop signal, so long that the lameduck time is over. */
const QUERIES = 15;
const PAUSE = 100;
/** Nothing is asked there. */
const WORLD = { upstream: 9 };

interface Started {
  readonly program: Program;
  readonly port: number;
}

type Start = (environment: Readonly<Record<string, string>>) => Promise<Started>;

async function startCoreDns(
  environment: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<Started> {
  const port = await findFreePort();
  const health = await findFreePort();
  const block = `bind ${HOST}\n health ${HOST}:${health} {\n lameduck 100ms\n }\n hosts {\n 10.0.0.1 a.test\n }`;
  const conf = await (await makeTemporaryFolder()).write('Corefile', `.:${port} {\n ${block}\n}\n`);
  return await untilServing(runPortolan(['coredns', ...words, '-conf', conf], { environment }), port);
}

async function startNanny(environment: Readonly<Record<string, string>>): Promise<Started> {
  const port = await findFreePort();
  const folder = await makeTemporaryFolder();
  const options = [
    '-k',
    '--no-resolv',
    '--no-hosts',
    '--log-facility=-',
    '--user=',
    '--group=',
    '--pid-file=',
  ];
  const place = [
    `--listen-address=${HOST}`,
    '--bind-interfaces',
    `--port=${port}`,
    '--address=/a.test/10.0.0.1',
  ];
  const words = ['dnsmasq-nanny', `-configDir=${join(folder.path, 'config')}`, '--', ...options, ...place];
  return await untilServing(runPortolan(words, { environment }), port);
}

async function untilServing(program: Program, port: number): Promise<Started> {
  await expect.poll(() => isAnswered(port), { timeout: 20_000 }).toBe(true);
  return { program, port };
}

const startWith =
  (role: 'serve' | 'kube-dns' | 'skydns', ...flags: readonly string[]): Start =>
  (environment) =>
    startRole(role, WORLD, { environment, flags });

async function isAnswered(port: number): Promise<boolean> {
  try {
    await ask({ address: HOST, port }, 'a.test', 'A', { deadline: 2_000 });
    return true;
  } catch {
    return false;
  }
}

const ROLES: readonly (readonly [name: string, start: Start, tools: readonly string[]])[] = [
  ['serve', startWith('serve', '--lameduck=100ms'), []],
  ['kube-dns', startWith('kube-dns', '--lameduck=100ms'), []],
  ['coredns', (environment) => startCoreDns(environment), []],
  ['dnsmasq-nanny', startNanny, []],
  ['skydns', startWith('skydns'), ['etcd', 'etcdctl']],
];

describe('a stopped server in a pod', () => {
  for (const [name, start, tools] of ROLES)
    itWithTool(tools, `answers on while queries arrive, and ends when none does: ${name}`, async () => {
      const { program, port } = await start(IN_POD);
      program.signal('SIGTERM');
      for (let query = 0; query < QUERIES; query += 1) {
        expect(await isAnswered(port), program.errors).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
      expect(await program.exit).toEqual({ code: 0, signal: null });
    });

  it('ends with its lameduck time as CoreDNS does: coredns -compat=drain', async () => {
    const { program, port } = await startCoreDns(IN_POD, '-compat=drain');
    program.signal('SIGTERM');
    // Queries do not prolong it.
    while (program.ended === undefined) await isAnswered(port);
    expect(program.ended).toEqual({ code: 0, signal: null });
  });
});

it.each(['serve', 'kube-dns'] as const)('%s ends with its lameduck time outside a pod', async (role) => {
  const { program, port } = await startWith(role, '--lameduck=100ms')({});
  program.signal('SIGTERM');
  while (program.ended === undefined) await isAnswered(port);
  expect(program.ended).toEqual({ code: 0, signal: null });
});
