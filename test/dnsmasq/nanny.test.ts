/**
 * `portolan dnsmasq-nanny`: follows the folder of kube-dns's ConfigMap without a restart.
 */

import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

let folder: TemporaryFolder;
/** Answer with 192.0.2.1 and 192.0.2.2. */
let upstreams: readonly LoopbackUpstream[];

beforeEach(async () => {
  folder = await makeTemporaryFolder();
  upstreams = await Promise.all(
    [1, 2].map((number) =>
      LoopbackUpstream.start(({ query, send }) =>
        send(reply(query, { answers: [makeAddressRecord(query, `192.0.2.${number}`)] })),
      ),
    ),
  );
});
afterEach(async () => {
  await endAllPrograms();
  for (const upstream of upstreams) await upstream.stop();
});

const first = () => upstreams[0]?.address ?? '';
const second = () => upstreams[1]?.address ?? '';

async function runNanny(flags: readonly string[], words: readonly string[] = []) {
  const port = await findFreePort();
  const program = runPortolan([
    'dnsmasq-nanny',
    '-v=2',
    '-logtostderr',
    `-configDir=${join(folder.path, 'config')}`,
    ...flags,
    '--',
    '-k',
    '--log-facility=-',
    '-C',
    '/dev/null',
    '-x',
    '',
    '--no-hosts',
    '--no-resolv',
    '-a',
    '127.0.0.1',
    '-z',
    '-p',
    String(port),
    ...words,
  ]);
  await waitUntil(
    'the nanny to serve',
    () => program.errors.includes('started, version') || program.ended !== undefined,
  );
  return { program, server: { address: '127.0.0.1', port } };
}

/** As the kubelet does: a new folder, and then the link swapped. */
async function swap(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  const config = join(folder.path, 'config');
  await mkdir(join(config, name), { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(config, name, file), text);
  await symlink(name, join(config, '..data_tmp'));
  await rename(join(config, '..data_tmp'), join(config, '..data'));
  for (const file of ['stubDomains', 'upstreamNameservers']) {
    await rm(join(config, file), { force: true });
    if (files[file] !== undefined) await symlink(`..data/${file}`, join(config, file));
  }
}

async function heard(program: Program, pattern: RegExp): Promise<void> {
  await waitUntil(String(pattern), () => pattern.test(program.errors));
}

it('takes in stub domains and upstream servers as the volume changes, and keeps the last good ones', async () => {
  await swap('..1', { stubDomains: JSON.stringify({ 'acme.local': [first()] }) });
  const { program, server } = await runNanny(
    ['-restartDnsmasq=true'],
    [`--server=/cluster.local/${second().replace(':', '#')}`],
  );
  expect(await askShort(server, 'x.acme.local', 'A')).toBe('192.0.2.1');
  expect(await askShort(server, 'x.cluster.local', 'A')).toBe('192.0.2.2');
  expect(await askShort(server, 'elsewhere.test', 'A')).toBe('REFUSED');
  const { pid } = program.process;

  await swap('..2', {
    stubDomains: JSON.stringify({ 'acme.local': [second()] }),
    upstreamNameservers: JSON.stringify([first()]),
  });
  await heard(program, /ConfigMap applied .*stubDomains=acme\.local\. upstreamNameservers=1/);
  expect(await askShort(server, 'x.acme.local', 'A')).toBe('192.0.2.2');
  expect(await askShort(server, 'elsewhere.test', 'A')).toBe('192.0.2.1');

  await swap('..3', { stubDomains: '{"acme.local":' });
  await heard(program, /keeping the last good one: stubDomains: not JSON/);
  expect(await askShort(server, 'y.acme.local', 'A')).toBe('192.0.2.2');
  expect(program.process.pid).toBe(pid);
  expect(program.ended).toBeUndefined();
});

it('asks kube-dns for the address of a stub server that is a Service', async () => {
  const kubedns = upstreams[0];
  if (kubedns === undefined) throw new Error('no upstream');
  kubedns.react = ({ query, send }) =>
    send(reply(query, { answers: [makeAddressRecord(query, '127.0.0.1')] }));
  await swap('..1', { stubDomains: JSON.stringify({ 'acme.local': ['dns.acme.svc.cluster.local'] }) });
  const { program } = await runNanny(['-kubednsServer', first()]);
  await waitUntil('kube-dns to be asked', () =>
    kubedns.queries.some(({ query }) => query.questions[0]?.name === 'dns.acme.svc.cluster.local.'),
  );
  expect(program.ended).toBeUndefined();
});

it('logs statistics at the interval, and says what has no effect', async () => {
  const { program } = await runNanny([
    '-logInterval=200ms',
    '-dnsmasqExec=/usr/sbin/dnsmasq',
    '-syncInterval',
    '1s',
  ]);
  await heard(program, /queries forwarded 0, queries answered locally 0[\s\S]*queries forwarded 0/);
  expect(program.errors).toContain('-dnsmasqExec has no effect');
  program.signal('SIGTERM');
  expect((await program.exit).code).toBe(0);
});

it('serves without the folder, and finds it when it comes', async () => {
  const { program, server } = await runNanny(['-syncInterval=200ms']);
  expect(await askShort(server, 'elsewhere.test', 'A')).toBe('REFUSED');
  await swap('..1', { upstreamNameservers: JSON.stringify([second()]) });
  await heard(program, /upstreamNameservers=1/);
  expect(await askShort(server, 'elsewhere.test', 'A')).toBe('192.0.2.2');
});

it('tells of flags that it does not know', async () => {
  const program = runPortolan(['dnsmasq-nanny', '-configdir=/x', '-syncInterval=soon', '--', '-k']);
  expect((await program.exit).code).toBe(2);
  expect(program.errors).toContain('Did you mean -configDir?');
  expect(program.errors).toContain('-syncInterval: not a duration');
});
