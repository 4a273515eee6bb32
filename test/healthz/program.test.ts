/**
 * `portolan healthz` as a program: the commands of older pods, against a server that lives and dies.
 */

import { rm } from 'node:fs/promises';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, expect, it } from 'vitest';
import { endAllSides, runOurs } from '../dnsmasq/both.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(async () => {
  await endAllSides();
  await endAllPrograms();
});

const PATIENT = { timeout: 10_000 };

async function runHealthz(...words: readonly string[]): Promise<{ program: Program; origin: string }> {
  const program = runPortolan(['healthz', '-port=0', '-period=50ms', ...words]);
  const { port } = await program.heard('started');
  return { program, origin: `http://127.0.0.1:${port}` };
}

async function get(url: string): Promise<readonly [status: number, text: string]> {
  const response = await fetch(url);
  return [response.status, await response.text()];
}

it('answers each path by its own command, and turns with it', async () => {
  const folder = await makeTemporaryFolder();
  const file = await folder.write('here', 'x');
  const { program, origin } = await runHealthz(
    `-cmd=ls ${file}`,
    '-url=/file',
    '-cmd=echo gone; exit 4',
    '-url=/never',
    '-v=2',
    '-logtostderr',
  );
  await expect
    .poll(() => get(`${origin}/never`), PATIENT)
    .toEqual([
      503,
      expect.stringMatching(
        /^Healthz probe on \/never error: Result of last exec: gone\n, at \S+Z, error exit status 4\n$/,
      ),
    ]);
  expect(await get(`${origin}/file`)).toEqual([200, 'ok']);
  await rm(file);
  await expect.poll(async () => (await get(`${origin}/file`))[0], PATIENT).toBe(503);
  await folder.write('here', 'x');
  await expect.poll(async () => (await get(`${origin}/file`))[0], PATIENT).toBe(200);
  expect((await get(`${origin}/healthz`))[0]).toBe(404);
  program.signal('SIGTERM');
  expect(await program.exit).toEqual({ code: 0, signal: null });
});

it('kills a command that hangs, and calls it ill', async () => {
  const { origin } = await runHealthz('-cmd=sleep 600', '-timeout=100ms');
  await expect
    .poll(() => get(`${origin}/healthz`), PATIENT)
    .toEqual([503, expect.stringContaining('error signal: killed, after 0.1 s')]);
});

itWithTool(
  'busybox',
  'looks up a name of the cluster, as older pods do',
  async () => {
    const server = await runOurs([
      '--no-resolv',
      '--local=/cluster.local/',
      '--no-hosts',
      '--host-record=kubernetes.default.svc.cluster.local,10.96.0.1',
    ]);
    const { origin } = await runHealthz(
      `-cmd=busybox nslookup kubernetes.default.svc.cluster.local 127.0.0.1:${server.port} >/dev/null && echo found`,
      '-output',
    );
    await expect.poll(async () => await get(`${origin}/healthz`), PATIENT).toEqual([200, 'found\n']);
    server.signal('SIGKILL');
    await expect.poll(async () => (await get(`${origin}/healthz`))[0]).toBe(503);
  },
  60_000,
);

it('refuses commands without a path of their own', async () => {
  const program = runPortolan(['healthz', '-cmd=a', '-cmd=b']);
  expect(await program.exit).toEqual({ code: 2, signal: null });
  expect(program.errors).toBe(
    'portolan healthz: -cmd and -url: not as many of one as of the other: "2 and 1". ' +
      'Give each -cmd a -url; they belong together in their order.\n',
  );
});

it('names every flag in its help', async () => {
  const program = runPortolan(['healthz', '--help']);
  expect((await program.exit).code).toBe(0);
  for (const flag of [
    'cmd',
    'url',
    'port',
    'period',
    'latency',
    'timeout',
    'output',
    'quiet',
    'version',
    'v',
  ])
    expect(program.output).toContain(`  -${flag} `);
});
