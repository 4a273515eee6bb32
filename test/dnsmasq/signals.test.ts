/**
 * The reactions of a running server to signals, and its operation in the background.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { runOurs } from './both.ts';

let folder: TemporaryFolder;
let upstream: LoopbackUpstream;

beforeEach(async () => {
  folder = await makeTemporaryFolder();
  upstream = await LoopbackUpstream.start(({ query, send }) =>
    send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.1')] })),
  );
});
afterEach(async () => {
  await endAllPrograms();
  await upstream.stop();
});

const read = (name: string) => readFileSync(join(folder.path, name), 'utf8');
const ALONE = ['--no-hosts', '--conf-file=/dev/null'];

describe('in the foreground', () => {
  it('logs the statistics on SIGUSR1, in the words of dnsmasq', async () => {
    const side = await runOurs([...ALONE, '--no-resolv', `--server=${upstream.address.replace(':', '#')}`]);
    for (const name of ['a.test', 'a.test', 'b.test']) await askShort(side, name, 'A');
    side.signal('SIGUSR1');
    await waitUntil('the statistics', () => side.said().includes('queries sent'));
    expect(side.said()).toMatch(
      /: cache size 150, 0\/2 cache insertions re-used unexpired cache entries\.$/m,
    );
    expect(side.said()).toMatch(/: queries forwarded 2, queries answered locally 1$/m);
    expect(side.said()).toMatch(
      /: server 127\.0\.0\.1#\d+: queries sent 2, retried 0, failed 0, nxdomain replies 0, avg\. latency \d+ms$/m,
    );
  });

  it('clears the cache on SIGHUP, and reads resolv files, servers and hosts again', async () => {
    const hosts = await folder.write('hosts', '10.0.0.1 one.test\n');
    const servers = await folder.write('servers', '');
    const resolv = await folder.write('resolv.conf', '# nobody\n');
    const files = [`--addn-hosts=${hosts}`, `--servers-file=${servers}`, `--resolv-file=${resolv}`];
    const side = await runOurs([
      ...ALONE,
      ...files,
      '--no-poll',
      `--server=${upstream.address.replace(':', '#')}`,
    ]);
    expect(await askShort(side, 'a.test', 'A')).toBe('192.0.2.1');
    const asked = upstream.queries.length;
    expect(await askShort(side, 'a.test', 'A')).toBe('192.0.2.1');
    expect(upstream.queries.length).toBe(asked);
    writeFileSync(servers, 'server=/local.test/\n');
    writeFileSync(hosts, '10.0.0.2 one.test\n');
    writeFileSync(resolv, 'nameserver 127.0.0.99\n');
    side.signal('SIGHUP');
    const lines = ['using nameserver 127.0.0.99#53', 'using only locally-known addresses for local.test'];
    await waitUntil('everything to be read', () => lines.every((line) => side.said().includes(line)));
    expect(await askShort(side, 'x.local.test', 'A')).toBe('NXDOMAIN');
    expect(await askShort(side, 'a.test', 'A')).toBe('192.0.2.1');
    expect(upstream.queries.filter(({ query }) => query.questions[0]?.name === 'a.test.')).toHaveLength(2);
    for (let told = ''; told !== '10.0.0.2'; ) told = await askShort(side, 'one.test', 'A');
  });

  it('follows a resolv file without any signal', async () => {
    const resolv = await folder.write('resolv.conf', '');
    const side = await runOurs([...ALONE, `--resolv-file=${resolv}`]);
    expect(await askShort(side, 'a.test', 'A')).toBe('REFUSED');
    writeFileSync(resolv, 'nameserver 127.0.0.98\n');
    await waitUntil('the file to be read', () => side.said().includes('using nameserver 127.0.0.98#53'));
  });

  it('ends with 0 on SIGTERM, and says so', async () => {
    const side = await runOurs([...ALONE, '--no-resolv']);
    side.signal('SIGTERM');
    await waitUntil('its end', () => side.process.exitCode !== null);
    expect(side.process.exitCode).toBe(0);
    expect(side.said()).toContain('exiting on receipt of SIGTERM');
  });
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function endWithTest(pid: number): void {
  onTestFinished(() => {
    if (isThere(pid)) process.kill(pid, 'SIGKILL');
  });
}

/** @returns false if nobody reads the pipe yet */
function passEmptyFile(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

describe('in the background', () => {
  it('goes there once it serves, writes its number, rotates its log and cleans up', async () => {
    const port = await findFreePort();
    const [pidFile, log] = ['pid', 'log'].map((name) => join(folder.path, name));
    const parent = runPortolan([
      'dnsmasq',
      '--no-resolv',
      ...ALONE,
      '-a',
      '127.0.0.1',
      '-z',
      '-p',
      String(port),
      '--user=',
      '--group=',
      `--pid-file=${pidFile}`,
      `--log-facility=${log}`,
    ]);
    expect(await parent.exit).toEqual({ code: 0, signal: null });
    const pid = Number(read('pid'));
    endWithTest(pid);
    expect(pid).not.toBe(parent.process.pid);
    expect(parent.errors).toBe('');
    // The parent is gone, so the port must answer at once.
    expect(await askShort({ address: '127.0.0.1', port }, 'a.test', 'A')).toBe('REFUSED');
    expect(read('log')).toMatch(
      new RegExp(`^\\w{3} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d dnsmasq\\[${pid}\\]: started, version`, 'm'),
    );
    expect(statSync(join(folder.path, 'log')).mode & 0o777).toBe(0o640);
    renameSync(join(folder.path, 'log'), join(folder.path, 'log.1'));
    process.kill(pid, 'SIGUSR2');
    await waitUntil('the log to be there again', () => existsSync(join(folder.path, 'log')));
    process.kill(pid, 'SIGTERM');
    await waitUntil('its end', () => !isThere(pid));
    expect(read('log')).toMatch(/exiting on receipt of SIGTERM\n$/);
    expect(existsSync(join(folder.path, 'pid'))).toBe(false);
  });

  it('serves when its parent has ended before', async () => {
    const port = await findFreePort();
    const [pidFile, log, conf] = ['pid', 'log', 'conf'].map((name) => join(folder.path, name));
    // Both processes read their configuration once, and wait for it.
    execFileSync('mkfifo', [String(conf)]);
    const handOver = () => waitUntil('a reader of the pipe', () => passEmptyFile(String(conf)));
    const parent = runPortolan([
      'dnsmasq',
      '--no-resolv',
      '--no-hosts',
      `--conf-file=${conf}`,
      '-a',
      '127.0.0.1',
      '-z',
      '-p',
      String(port),
      '--user=',
      '--group=',
      `--pid-file=${pidFile}`,
      `--log-facility=${log}`,
    ]);
    await handOver();
    const { pid: starter } = parent.process;
    const children = () => readFileSync(`/proc/${starter}/task/${starter}/children`, 'utf8').trim();
    await waitUntil('the child', () => children() !== '');
    const pid = Number(children());
    endWithTest(pid);
    parent.signal('SIGKILL');
    await parent.exit;
    await handOver();
    await waitUntil('the child to settle', () => existsSync(String(pidFile)) && read('pid') === `${pid}\n`);
    // It handles a signal only after it has tried to tell its parent.
    renameSync(String(log), `${log}.1`);
    process.kill(pid, 'SIGUSR2');
    await waitUntil('the log to be there again', () => existsSync(String(log)));
    expect(await askShort({ address: '127.0.0.1', port }, 'a.test', 'A')).toBe('REFUSED');
    process.kill(pid, 'SIGTERM');
    await waitUntil('its end', () => !isThere(pid));
    expect(read('log')).toMatch(/exiting on receipt of SIGTERM\n$/);
  });

  it('hands its configuration on when that comes by standard input', async () => {
    const port = await findFreePort();
    const pidFile = join(folder.path, 'pid');
    const conf = await folder.write(
      'conf',
      `port=${port}\nlisten-address=127.0.0.1\nbind-interfaces\nuser=\ngroup=\n`,
    );
    const script = `exec "$@" < ${conf}`;
    const parent = runPortolan(['dnsmasq', '--no-resolv', '--no-hosts', '-C', '-', `--pid-file=${pidFile}`], {
      through: ['sh', '-c', script, 'sh'],
    });
    expect((await parent.exit).code).toBe(0);
    const pid = Number(read('pid'));
    expect(await askShort({ address: '127.0.0.1', port }, 'a.test', 'A')).toBe('REFUSED');
    process.kill(pid, 'SIGKILL');
  });
});
