/**
 * The user of the process, the clients that it answers, and its limit of concurrent queries.
 */
import { readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { itWhere } from '../support/tools.ts';
import { runOurs } from './both.ts';

afterEach(endAllPrograms);

const ALONE = ['--no-resolv', '--no-hosts', '--conf-file=/dev/null'];
const isRoot = process.getuid?.() === 0;

itWhere(isRoot, 'root', 'becomes its user, and goes on following its files', async () => {
  const folder = await makeTemporaryFolder();
  await chmod(folder.path, 0o755);
  const hosts = await folder.write('hosts', '10.0.0.1 one.test\n');
  const side = await runOurs([...ALONE, `--addn-hosts=${hosts}`], { user: 'nobody', group: 'nogroup' });
  const status = () => readFileSync(`/proc/${side.process.pid}/status`, 'utf8');
  await waitUntil('the process to be nobody', () => /^Uid:\t65534\t65534\t65534\t65534$/m.test(status()));
  expect(status()).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m);
  expect(status()).toMatch(/^Groups:\t ?$/m);
  // Threads of readers too, and they still answer.
  expect(await askShort(side, 'one.test', 'A')).toBe('10.0.0.1');
  await folder.write('hosts', '10.0.0.2 one.test\n');
  for (let told = ''; told !== '10.0.0.2'; ) told = await askShort(side, 'one.test', 'A');
});

it('takes no more TCP connections than it is told to', async () => {
  const side = await runOurs([...ALONE, '--max-tcp-connections=2']);
  const sockets = await Promise.all([1, 2, 3].map(() => open(side.port)));
  await waitUntil('one to be closed', () => sockets.filter(({ destroyed }) => destroyed).length === 1);
  sockets.find(({ destroyed }) => !destroyed)?.destroy();
  const heard = () => askShort(side, 'one.test', 'A', { transport: 'tcp' }).catch(() => 'closed');
  for (let told = 'closed'; told === 'closed'; ) told = await heard();
});

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.resume();
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

it('answers neighbours with --local-service, from the table and by its handlers', async () => {
  const words = ['--no-resolv', '--no-hosts', '--local-service', '--host-record=one.test,10.0.0.1'];
  const { write } = await makeTemporaryFolder();
  const conf = await write('conf', `${words.map((word) => word.slice(2)).join('\n')}\n`);
  // An address to listen on would switch it off, as in dnsmasq: so it is the wildcard, and a port of its own.
  const side = await runOurs([`--conf-file=${conf}`], { listens: 'everywhere' });
  expect(await askShort(side, 'one.test', 'A')).toBe('10.0.0.1');
  expect(await askShort(side, 'one.test', 'A', { transport: 'tcp' })).toBe('10.0.0.1');
  expect(await askShort(side, 'two.test', 'A')).toBe('REFUSED');
  expect(side.said()).not.toContain('non-local');
});

it('does not ask itself', async () => {
  const { path, write } = await makeTemporaryFolder();
  await write('resolv.conf', 'nameserver 127.0.0.99\n');
  const side = await runOurs([
    '--no-hosts',
    '-C',
    '/dev/null',
    '--server=127.0.0.1#PORT',
    '-r',
    join(path, 'resolv.conf'),
  ]);
  expect(side.said()).toContain(`ignoring nameserver 127.0.0.1#${side.port} - local interface`);
  expect(side.said()).toContain('using nameserver 127.0.0.99#53');
});
