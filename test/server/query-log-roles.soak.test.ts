/**
 * The query log in every role: by flags and by the control socket, beside the lines that the role itself writes about queries.
 */

import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { formatSocketName, runToEnd, serveCorefile } from '../support/control.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { ROLES, startRole } from '../support/roles.ts';
import { describeWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const WAIT = { timeout: 20_000 };
const KNOWN = 'www.example';
const MISSING = 'missing.example';

async function makeScene() {
  const upstream = await LoopbackUpstream.start(
    answerFromZone({
      'www.example. A': [makeAddress('192.0.2.1')],
      'www.other. A': [makeAddress('192.0.2.2')],
    }),
  );
  onTestFinished(() => upstream.stop());
  const file = join((await makeTemporaryFolder()).path, 'queries.log');
  const port = Number(upstream.address.split(':').at(-1));
  return { world: { upstream: port }, upstream: upstream.address, file };
}

type Line = Readonly<Record<string, string | number>>;

async function linesIn(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line); // Our own format.
}

const ways = (lines: readonly Line[]) =>
  lines.map(({ name, transport, rcode }) => [name, transport, rcode].join(' '));

function makeControlClient(program: Program, role: string) {
  return async (...words: readonly string[]) => {
    const { code, text, errors } = await runToEnd(
      'control',
      `--socket=${formatSocketName(program, role)}`,
      ...words,
    );
    expect([code, errors]).toEqual([0, '']);
    return text;
  };
}

/** Asks by way of the chain or a reader's path, from readers' cache, and over TCP. */
async function askAll(server: DnsServer): Promise<void> {
  await ask(server, KNOWN, 'A');
  await ask(server, 'WWW.Example', 'A');
  await ask(server, KNOWN, 'A', { transport: 'tcp' });
  for (const name of [MISSING, 'www.other']) await ask(server, name, 'A');
}

/** Asks until a line is in a file that was rotated. */
async function askUntilIn(file: string, server: DnsServer): Promise<void> {
  await expect
    .poll(async () => {
      await ask(server, KNOWN, 'A');
      return (await linesIn(file)).length;
    }, WAIT)
    .toBeGreaterThan(0);
}

for (const role of ROLES)
  describeWithTool(role === 'skydns' ? ['etcd'] : [], role, () => {
    it('logs what is selected while the control socket has it switched on', async () => {
      const { world, file } = await makeScene();
      const server = await startRole(role, world);
      const control = makeControlClient(server.program, role);
      await ask(server, KNOWN, 'A');
      const on = ['query-log', 'on', `file=${file}`, 'format=json'];
      expect(await control(...on, 'zone=example', 'rcode=NOERROR', 'client=127.0.0.0/8')).toContain(
        `query log  ${file}`,
      );
      await askAll(server);
      await expect
        .poll(async () => ways(await linesIn(file)), WAIT)
        .toEqual(['www.example. udp NOERROR', 'WWW.Example. udp NOERROR', 'www.example. tcp NOERROR']);
      await control(...on, 'rcode=NXDOMAIN');
      await askAll(server);
      await expect
        .poll(async () => ways(await linesIn(file)).slice(3), WAIT)
        .toEqual(['missing.example. udp NXDOMAIN']);
      await control(...on, 'client=192.0.2.0/24');
      await askAll(server);
      expect(await control('query-log', 'off')).toBe('query log  off\n');
      await askAll(server);
      await control(...on);
      await ask(server, 'www.other', 'A');
      await expect
        .poll(async () => ways(await linesIn(file)).slice(4), WAIT)
        .toEqual(['www.other. udp NOERROR']);
    });

    it('logs by its flags, until its end, in a file that follows its rotation', async () => {
      const { world, file } = await makeScene();
      const flags = [`--query-log=${file}`, '--query-log-format=json', '--query-log-zone=example'];
      // These two wait before they stop, the others do not.
      if (role === 'serve' || role === 'kube-dns') flags.push('--lameduck=0s');
      const server = await startRole(role, world, { flags });
      await askAll(server);
      const all = ['udp NOERROR', 'udp NOERROR', 'tcp NOERROR', 'udp NXDOMAIN'];
      const seen = async () => ways(await linesIn(file)).map((line) => line.replace(/^\S+ /, ''));
      await expect.poll(seen, WAIT).toEqual(all);
      await rename(file, `${file}.1`);
      server.program.signal('SIGUSR2');
      await askUntilIn(file, server);
      await rename(file, `${file}.2`);
      await makeControlClient(server.program, role)('query-log', 'reopen');
      await askUntilIn(file, server);
      await ask(server, 'last.example', 'A');
      server.program.signal('SIGTERM');
      await server.program.exit;
      expect(ways(await linesIn(file)).at(-1)).toBe('last.example. udp NXDOMAIN');
    });
  });

it('is whole beside the lines of log-queries, which have the order of time and their numbers', async () => {
  const { world, file } = await makeScene();
  const server = await startRole('dnsmasq', world, { flags: ['--log-queries=extra'] });
  await makeControlClient(server.program, 'dnsmasq')('query-log', 'on', `file=${file}`, 'format=json');
  await askAll(server);
  await expect.poll(async () => (await linesIn(file)).length, WAIT).toBe(5);
  const told = () =>
    server.program.errors
      .split('\n')
      .filter((line) => /query\[|reply|cached/.test(line))
      .map((line) => line.replace(/^dnsmasq\[\d+\]: (\d+) 127\.0\.0\.1\/\d+ /, '$1 '));
  await expect
    .poll(told, WAIT)
    .toEqual([
      '1 query[A] www.example from 127.0.0.1',
      '1 reply www.example is 192.0.2.1',
      '2 query[A] WWW.Example from 127.0.0.1',
      '2 cached WWW.Example is 192.0.2.1',
      '3 query[A] www.example from 127.0.0.1',
      '3 cached www.example is 192.0.2.1',
      '4 query[A] missing.example from 127.0.0.1',
      '4 reply missing.example is NXDOMAIN',
      '5 query[A] www.other from 127.0.0.1',
      '5 reply www.other is 192.0.2.2',
    ]);
});

it('is whole beside the lines of the plugin log, which are those of its block', async () => {
  const { upstream, file } = await makeScene();
  const { program, port } = await serveCorefile(`  log example\n  cache\n  forward . ${upstream}`);
  await makeControlClient(program, 'coredns')('query-log', 'on', `file=${file}`, 'format=json');
  await askAll({ address: '127.0.0.1', port });
  await expect.poll(async () => (await linesIn(file)).length, WAIT).toBe(5);
  const told = () =>
    [...program.output.matchAll(/^\[INFO\] 127\S+ - \d+ "A IN (\S+) (udp|tcp) .*" (\w+) /gm)].map(
      ([, name, transport, rcode]) => `${name} ${transport} ${rcode}`,
    );
  await expect
    .poll(told, WAIT)
    .toEqual([
      'www.example. udp NOERROR',
      'www.example. udp NOERROR',
      'www.example. tcp NOERROR',
      'missing.example. udp NXDOMAIN',
    ]);
});

it('is a feature of a Corefile that changes with it', async () => {
  const { upstream, file } = await makeScene();
  const lines = (settings: string) =>
    `  cache\n  forward . ${upstream}\n  portolan {\n    query_log ${settings}\n  }`;
  const { program, port, write } = await serveCorefile(lines(`file=${file} format=json rcode=NXDOMAIN`));
  const server = { address: '127.0.0.1', port };
  await askAll(server);
  await expect.poll(async () => ways(await linesIn(file)), WAIT).toEqual(['missing.example. udp NXDOMAIN']);
  write(lines(`file=${file}.2 format=json zone=other`));
  program.signal('SIGUSR1');
  await expect.poll(() => program.output, WAIT).toContain('Reloading complete');
  await askAll(server);
  await expect.poll(async () => ways(await linesIn(`${file}.2`)), WAIT).toEqual(['www.other. udp NOERROR']);
  expect(await linesIn(file)).toHaveLength(1);
});
