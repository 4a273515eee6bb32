/**
 * The exit codes of the program and of dnsmasq, which service managers read.
 */
import { spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';

const ALONE = ['--no-resolv', '--no-hosts', '--user=', '--group=', '--listen-address=127.0.0.1'];

describeWithTool('dnsmasq', 'exit codes', () => {
  let socket: Socket;
  let taken = 0;

  beforeAll(async () => {
    socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    taken = socket.address().port;
  });
  afterAll(() => void socket.close());
  afterEach(endAllPrograms);

  async function compare(words: readonly string[]): Promise<{ real: number | null; ours: number | null }> {
    const all = words.map((word) => word.replace('TAKEN', String(taken)));
    const real = spawnSync('dnsmasq', all, { stdio: 'ignore', timeout: 10_000 });
    const ours = await runPortolan(['dnsmasq', ...all]).exit;
    return { real: real.status, ours: ours.code };
  }

  it.each([
    ['a good configuration', 0, ['--test', '--conf-file=/dev/null']],
    ['help', 0, ['--help']],
    ['version', 0, ['--version']],
    ['an unknown option', 1, ['--no-such-option']],
    ['a wrong value', 1, ['--test', '--conf-file=/dev/null', '--port=x']],
    ['a missing file', 3, ['--test', '--conf-file=/dev/null/file']],
    ['an unknown user', 1, ['-k', '--conf-file=/dev/null', '--user=no-such-user', '--port=0']],
    ['an unknown group', 1, ['-k', '--conf-file=/dev/null', '--user=', '--group=no-such-group', '--port=0']],
    ['an unknown interface', 2, ['-k', '--conf-file=/dev/null', '-z', '--interface=nope0', '--port=20053']],
    ['a port in use', 2, ['-k', ...ALONE, '--conf-file=/dev/null', '-z', '--pid-file=', '--port=TAKEN']],
    ['a port in use, in the background', 2, [...ALONE, '-C', '/dev/null', '-z', '-x', '', '-p', 'TAKEN']],
    [
      'an address that no interface has',
      2,
      ['-k', '-u', '', '-g', '', '-C', '/dev/null', '-z', '-a', '192.0.2.77', '-p', '20053'],
    ],
    ['a pid file that cannot be', 3, ['-k', ...ALONE, '-C', '/dev/null', '-p', '0', '-x', '/dev/null/pid']],
    [
      'a log that cannot be',
      3,
      ['-k', ...ALONE, '-C', '/dev/null', '-p', '0', '-x', '', '-8', '/dev/null/log'],
    ],
  ])('%s: %i', async (_what, code, words) => {
    expect(await compare(words)).toEqual({ real: code, ours: code });
  });
});
