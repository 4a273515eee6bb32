/**
 * The query log of `portolan serve`: every answer of readers and chain, in a file that can be rotated.
 */
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it } from 'vitest';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const KNOWN = 'cart.shop.svc.cluster.local';
const MISSING = 'Nothing.shop.svc.cluster.local';
const EXTERNAL = 'www.example.com';

type Line = Readonly<Record<string, string | number>>;

async function readLines(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line); // Our own format.
}

async function serveWithLog(flags: readonly string[]) {
  const folder = await makeTemporaryFolder();
  const file = join(folder.path, 'queries.log');
  const serving = await servePortolan(['--example', '--upstream=none', `--query-log=${file}`, ...flags]);
  await serving.program.heard('cluster listed');
  return { serving, file };
}

const LINES = { timeout: 10_000 };

it('has what the table and the chain answer, by UDP and TCP, until the end', async () => {
  const { serving, file } = await serveWithLog(['--lameduck=0s']);
  await ask(serving, KNOWN, 'A');
  await expect.poll(async () => (await readLines(file)).length, LINES).toBe(1);
  await ask(serving, MISSING, 'A', { transport: 'tcp' });
  await expect.poll(async () => (await readLines(file)).length, LINES).toBe(2);
  await ask(serving, EXTERNAL, 'A');
  serving.program.signal('SIGTERM');
  await serving.program.exit;
  const lines = await readLines(file);
  const seen = lines.map(({ name, transport, rcode, source, reason }) => ({
    name,
    transport,
    rcode,
    source,
    reason,
  }));
  expect(seen).toEqual([
    { name: `${KNOWN}.`, transport: 'udp', rcode: 'NOERROR', source: 'cluster' },
    {
      name: `${MISSING}.`,
      transport: 'tcp',
      rcode: 'NXDOMAIN',
      source: 'cluster',
      reason: 'no-such-service',
    },
    { name: `${EXTERNAL}.`, transport: 'udp', rcode: 'REFUSED', source: 'block', reason: 'not-forwarded' },
  ]);
});

it('has what is selected, in a file that follows its rotation', async () => {
  const { serving, file } = await serveWithLog([
    '--query-log-rcode=NXDOMAIN',
    '--query-log-client=127.0.0.0/8',
  ]);
  await ask(serving, KNOWN, 'A');
  await ask(serving, MISSING, 'A');
  await expect
    .poll(async () => (await readLines(file)).map(({ rcode }) => rcode), LINES)
    .toEqual(['NXDOMAIN']);
  await rename(file, `${file}.1`);
  serving.program.signal('SIGUSR2');
  await expect
    .poll(async () => {
      await ask(serving, MISSING, 'A');
      return (await readLines(file)).length;
    }, LINES)
    .toBeGreaterThan(0);
});

it('that cannot be opened is said at the start', async () => {
  const starting = servePortolan(['--example', '--query-log=/nonexistent/queries.log']);
  await expect(starting).rejects.toThrow('/nonexistent/queries.log');
});

it('is switched on, changed and switched off while the server runs, and so is the level of the log', async () => {
  const folder = await makeTemporaryFolder();
  const socket = join(folder.path, 'control');
  const file = join(folder.path, 'queries.log');
  const serving = await servePortolan(['--example', '--upstream=none', `--control-socket=${socket}`]);
  await serving.program.heard('cluster listed');
  const control = async (...words: readonly string[]) => {
    const program = runPortolan(['control', `--socket=${socket}`, ...words]);
    const { code } = await program.exit;
    return { code, text: program.output + program.errors };
  };
  expect((await control('status')).text).toContain('level info, query log off');
  expect((await control('query-log', 'on', `file=${file}`, 'rcode=NXDOMAIN')).text).toContain(
    `query log  ${file}`,
  );
  await ask(serving, KNOWN, 'A');
  await ask(serving, MISSING, 'A');
  await expect
    .poll(async () => (await readLines(file)).map(({ rcode }) => rcode), LINES)
    .toEqual(['NXDOMAIN']);
  await control('query-log', 'on', `file=${file}`, 'rcode=NOERROR');
  await ask(serving, MISSING, 'A');
  await ask(serving, KNOWN, 'A');
  await expect.poll(async () => (await readLines(file)).length, LINES).toBe(2);
  expect((await control('query-log', 'off')).text).toBe('query log  off\n');
  await ask(serving, KNOWN, 'A');
  expect((await control('log-level', 'debug')).text).toContain('log level  debug');
  expect(await control('log-level', 'loud')).toEqual({
    code: 2,
    text: expect.stringContaining('log-level: unknown: "loud".'),
  });
  expect((await readLines(file)).map(({ rcode }) => rcode)).toEqual(['NXDOMAIN', 'NOERROR']);
});
