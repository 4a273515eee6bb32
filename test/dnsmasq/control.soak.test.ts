/**
 * The control socket of a server that root starts and that becomes another user: that user and root may ask, and nothing is left behind.
 */

import { existsSync } from 'node:fs';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, expect } from 'vitest';
import { mayMount } from '../faults/private-mounts.ts';
import { formatSocketName } from '../support/control.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWhere } from '../support/tools.ts';

afterEach(endAllPrograms);

const NOBODY = 65_534;
const PATH = '/run/portolan/dnsmasq/control.sock';

/** Runs dnsmasq with a `/run` of its own. @param prepare a command of the shell */
async function runDnsmasq(prepare: string): Promise<Program> {
  const script = `mount -t tmpfs none /run && ${prepare} && exec "$@"`;
  const options = { through: ['unshare', '-m', 'sh', '-c', script, 'sh'] };
  const program = runPortolan(
    [
      'dnsmasq',
      '-k',
      '-C',
      '/dev/null',
      '--no-resolv',
      '--no-hosts',
      '--log-facility=-',
      '--pid-file=',
      '--listen-address=127.0.0.1',
      '--bind-interfaces',
      `--port=${await findFreePort()}`,
    ],
    options,
  );
  await waitUntil('dnsmasq', () => /started, version/.test(program.errors));
  return program;
}

/** Runs an order beside a server, as a user. @param further a program that runs it */
async function order(
  server: Program,
  user: number,
  words: readonly string[],
  further: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly text: string }> {
  const own = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const through = ['nsenter', '-m', '-t', String(server.process.pid), ...further, ...own];
  const program = runPortolan(['control', ...words], { through });
  const { code } = await program.exit;
  return { code, text: program.output + program.errors };
}

const CHANGE = ['log-level', 'info'];

itWhere(
  mayMount,
  'unshare -m',
  'root and its own user may ask and change, by a file that goes with it',
  async () => {
    const server = await runDnsmasq('mkdir /run/portolan');
    for (const user of [0, NOBODY])
      expect(await order(server, user, ['--socket', PATH, ...CHANGE])).toMatchObject({ code: 0 });
    expect(await order(server, 1_000, ['--socket', PATH, ...CHANGE])).toMatchObject({ code: 3 });
    const place = `/proc/${server.process.pid}/root${PATH}`;
    expect(existsSync(place)).toBe(true);
    // It keeps the mounts.
    const keeper = runPortolan(['dashboard', '--port=0', '--socket=@nobody'], {
      through: ['nsenter', '-m', '-t', String(server.process.pid)],
    });
    await waitUntil('the keeper', () => keeper.output !== '');
    server.signal('SIGTERM');
    expect(await server.exit).toMatchObject({ code: 0 });
    expect(existsSync(`/proc/${keeper.process.pid}/root/run/portolan/dnsmasq`)).toBe(true);
    expect(existsSync(`/proc/${keeper.process.pid}/root${PATH}`)).toBe(false);
  },
);

itWhere(mayMount, 'unshare -m', 'root does not follow a link that somebody has put there', async () => {
  const server = await runDnsmasq(
    'mkdir -m 777 /run/portolan /run/other && ln -s ../other /run/portolan/dnsmasq',
  );
  const socket = formatSocketName(server, 'dnsmasq');
  expect(await order(server, 0, ['--socket', socket, 'status'])).toMatchObject({ code: 0 });
  expect(existsSync(`/proc/${server.process.pid}/root/run/other/control.sock`)).toBe(false);
});

itWhere(
  mayMount,
  'unshare -m',
  'over an abstract name, another container may look, and change nothing',
  async () => {
    const server = await runDnsmasq('true');
    const socket = formatSocketName(server, 'dnsmasq');
    for (const user of [0, NOBODY])
      expect(await order(server, user, ['--socket', socket, ...CHANGE])).toMatchObject({ code: 0 });
    const container = ['unshare', '-p', '-f', '--mount-proc'];
    expect(await order(server, NOBODY, ['--socket', socket, 'status'], container)).toMatchObject({ code: 0 });
    expect(await order(server, NOBODY, ['--socket', socket, ...CHANGE], container)).toEqual({
      code: 1,
      text: expect.stringContaining('not from another PID namespace: log-level'),
    });
  },
);
