/**
 * At the end of its start each role that runs no programs loses the right to, in all its threads, and goes on serving.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { startEtcd } from '../etcd/etcd-server.ts';
import { makeName, startUpstream } from '../resolver/forwarding-programs.ts';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';
import { canRun, ROLES, startRole } from '../support/roles.ts';
import { itWhere, itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

/** Loaded into the program: on a signal it does what foreign code in the process would, and starts a thread. */
const PROBE = `
const { isMainThread, Worker } = require('node:worker_threads');
const { spawn, spawnSync } = require('node:child_process');
const { writeFileSync } = require('node:fs');
if (isMainThread) process.on('SIGPWR', () => {
  const program = spawnSync('/bin/true').error?.code ?? 'ran';
  const background = new Promise((resolve) => {
    try {
      const child = spawn('/bin/true', { detached: true, stdio: 'ignore' });
      child.on('error', ({ code }) => resolve(code)).on('exit', () => resolve('ran'));
    } catch ({ code }) {
      resolve(code);
    }
  });
  const thread = new Promise((resolve) => new Worker('', { eval: true }).on('exit', resolve));
  Promise.all([background, thread]).then(([background, thread]) =>
    writeFileSync(process.env.PROBED, JSON.stringify({ program, background, thread })));
});
`;
const CONFINED = { program: 'EPERM', background: 'EPERM', thread: 0 };
const FREE = { program: 'ran', background: 'ran', thread: 0 };

async function makeProbe() {
  const folder = await makeTemporaryFolder();
  const file = join(folder.path, 'probed');
  const probe = await folder.write('probe.cjs', PROBE);
  return {
    environment: { NODE_OPTIONS: `--require=${probe}`, PROBED: file },
    /** What the program may do. */
    ask: async (program: Program): Promise<unknown> => {
      program.signal('SIGPWR');
      let found: unknown;
      await waitUntil('the probe', () => {
        try {
          found = JSON.parse(readFileSync(file, 'utf8'));
          return true;
        } catch {
          return false;
        }
      });
      return found;
    },
  };
}

/** What the kernel says of each thread: 2 for a filter. */
function readSeccompModes({ process: { pid } }: Program): ReadonlySet<string> {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const statuses = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8'));
  return new Set(statuses.map((status) => /^Seccomp:\s+(\d)/m.exec(status)?.[1] ?? ''));
}

const RELOAD: Readonly<Record<(typeof ROLES)[number], NodeJS.Signals>> = {
  serve: 'SIGHUP',
  'kube-dns': 'SIGHUP',
  dnsmasq: 'SIGHUP',
  skydns: 'SIGHUP',
  coredns: 'SIGUSR1',
  'node-cache': 'SIGUSR1',
};

describe('at the end of its start', () => {
  for (const role of ROLES)
    itWhere(
      canRun(role),
      'etcd',
      `${role} serves, reloads and is controlled by the rights that it has left`,
      async () => {
        const upstream = await startUpstream();
        const probe = await makeProbe();
        const { program, ...server } = await startRole(
          role,
          { upstream: Number(upstream.address.split(':')[1]) },
          probe,
        );
        const runsPrograms = role === 'node-cache';
        expect(readSeccompModes(program)).toEqual(new Set([runsPrograms ? '0' : '2']));
        expect(await probe.ask(program)).toEqual(runsPrograms ? FREE : CONFINED);
        expect(await askShort(server, makeName(1), 'A')).toBe('192.0.2.1');
        program.signal(RELOAD[role]);
        const control = () => runToEnd('control', `--socket=${formatSocketName(program, role)}`, 'status');
        expect((await control()).code).toBe(0);
        expect(await askShort(server, makeName(2), 'A', { transport: 'tcp' })).toBe('192.0.2.1');
      },
    );

  it('serve writes its snapshot', async () => {
    const cluster = await ApiServerDouble.start({ objects: [] });
    onTestFinished(() => cluster.stop());
    const folder = await makeTemporaryFolder();
    const file = join(folder.path, 'snapshot');
    const { program } = await servePortolan([
      `--kube-master-url=${cluster.url}`,
      '--snapshot',
      file,
      '--lameduck=0s',
    ]);
    await program.heard('cluster listed');
    expect(readSeccompModes(program)).toEqual(new Set(['2']));
    program.signal('SIGTERM');
    await program.exit;
    expect(readdirSync(folder.path)).toContain('snapshot');
  });

  it('sidecar has none', async () => {
    const words = ['--prometheus-addr=127.0.0.1', '--prometheus-port=0', '--dnsmasq-port=1'];
    const probe = await makeProbe();
    const program = runPortolan(['sidecar', ...words], probe);
    await program.heard('started');
    await waitUntil('the filter', () => readSeccompModes(program).has('2'));
    expect(await probe.ask(program)).toEqual(CONFINED);
  });

  itWithTool('etcd', 'kube2sky has none', async () => {
    const cluster = await ApiServerDouble.start({ objects: [] });
    onTestFinished(() => cluster.stop());
    const { url } = (await startEtcd()).first;
    const probe = await makeProbe();
    const words = [`--kube-master-url=${cluster.url}`, `--etcd-server=${url}`, '--healthz-port=0'];
    const program = runPortolan(['kube2sky', ...words], probe);
    await program.heard('started');
    await waitUntil('the filter', () => readSeccompModes(program).has('2'));
    expect(await probe.ask(program)).toEqual(CONFINED);
  });
});

describe('programs run on', () => {
  it('where PORTOLAN_SECCOMP is off', async () => {
    const probe = await makeProbe();
    const environment = { ...probe.environment, PORTOLAN_SECCOMP: 'off' };
    const { program } = await servePortolan(['--example'], { environment });
    expect(readSeccompModes(program)).toEqual(new Set(['0']));
    expect(await probe.ask(program)).toEqual(FREE);
  });

  it('in healthz, which runs commands', async () => {
    const probe = await makeProbe();
    const program = runPortolan(['healthz', '-cmd=true', '-port=0'], probe);
    await program.heard('started');
    expect(await probe.ask(program)).toEqual(FREE);
  });
});
