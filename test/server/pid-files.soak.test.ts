/**
 * Pid files, in every command that writes one: they exist while it serves, are removed at its end, and left to a process that takes over.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, type RunOptions, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

let folder: TemporaryFolder;
let pidFile: string;
let port: number;

beforeEach(async () => {
  folder = await makeTemporaryFolder();
  pidFile = join(folder.path, 'pid');
  port = await findFreePort();
});
afterEach(endAllPrograms);

const DNSMASQ = ['-C', '/dev/null', '--no-hosts', '--no-resolv', '-a', '127.0.0.1', '-z', '--log-facility=-'];

/** The words of each command. @param lines of its server block */
const COMMANDS = {
  coredns: async (lines: string) => [
    'coredns',
    '-conf',
    await folder.write('Corefile', corefile(lines)),
    '-pidfile',
    pidFile,
  ],
  'node-cache': async (lines: string) => [
    'node-cache',
    '-localip',
    '127.0.0.1',
    '-setupinterface=false',
    '-setupiptables=false',
    '-takeover',
    '-basecorefile',
    await folder.write('Corefile.base', corefile(lines)),
    '-conf',
    join(folder.path, 'Corefile'),
    '-metrics-listen-address',
    '127.0.0.1:0',
    '-pidfile',
    pidFile,
  ],
  dnsmasq: async () => [
    'dnsmasq',
    '-k',
    ...DNSMASQ,
    '-p',
    String(port),
    '--user=',
    '--group=',
    '-x',
    pidFile,
  ],
  'dnsmasq-nanny': async () => ['dnsmasq-nanny', '--', '-k', ...DNSMASQ, '-p', String(port), '-x', pidFile],
} as const;
const NAMES = ['coredns', 'node-cache', 'dnsmasq', 'dnsmasq-nanny'] as const;
type Name = (typeof NAMES)[number];

const corefile = (lines: string) => `.:${port} {\n  bind 127.0.0.1\n  ${lines}\n}\n`;

/** Processes write and remove the file at any moment. */
function numberInFile(): string {
  try {
    return readFileSync(pidFile, 'utf8');
  } catch {
    return 'none';
  }
}

/** Runs a command until it has written its number. */
async function serve(
  name: Name,
  {
    lines = 'whoami',
    flags = [],
    ...options
  }: RunOptions & { lines?: string; flags?: readonly string[] } = {},
) {
  const program = runPortolan([...(await COMMANDS[name](lines)), ...flags], options);
  await waitUntil(
    'its number',
    () => program.ended !== undefined || numberInFile() === `${program.process.pid}\n`,
  );
  expect(program.ended, program.output + program.errors).toBeUndefined();
  return program;
}

/** A server that sends each query back to where it came from, once it is let: as from then on there is a loop. */
class WayBack {
  readonly #socket: Socket;
  readonly #held: Buffer[] = [];
  #leads = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (packet) => {
      const isQuery = ((packet[2] ?? 0) & 0x80) === 0;
      if (isQuery) this.#pass(packet);
    });
  }

  /** Opens one, which ends with the test. */
  static async open(): Promise<WayBack> {
    const socket = createSocket('udp4');
    onTestFinished(() => void socket.close());
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new WayBack(socket);
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  lead(): void {
    this.#leads = true;
    for (const packet of this.#held.splice(0)) this.#pass(packet);
  }

  #pass(packet: Buffer): void {
    if (this.#leads) this.#socket.send(packet, port, '127.0.0.1');
    else this.#held.push(packet);
  }
}

describe.each(NAMES)('the pid file of %s', (name) => {
  it.each(['SIGTERM', 'SIGINT'] as const)('is gone after %s', async (signal) => {
    const program = await serve(name);
    program.signal(signal);
    expect(await program.exit).toEqual({ code: 0, signal: null });
    expect(numberInFile()).toBe('none');
  });
});

it('stays where another process has written its number', async () => {
  const program = await serve('dnsmasq');
  writeFileSync(pidFile, '4711\n');
  program.signal('SIGTERM');
  await program.exit;
  expect(numberInFile()).toBe('4711\n');
});

it('is that of the process that takes over, after the end of the one before', async () => {
  const before = await serve('node-cache');
  const after = await serve('node-cache');
  before.signal('SIGTERM');
  expect((await before.exit).code).toBe(0);
  expect(numberInFile()).toBe(`${after.process.pid}\n`);
  after.signal('SIGTERM');
  await after.exit;
  expect(numberInFile()).toBe('none');
});

it.each(['coredns', 'node-cache'] as const)('is gone when %s cannot go on', async (name) => {
  const back = await WayBack.open();
  // Only there a loop ends the process.
  const program = await serve(name, { lines: `loop\n  forward . ${back.address}`, flags: ['-compat=1.14'] });
  back.lead();
  expect((await program.exit).code).toBe(1);
  expect(program.output).toContain('[FATAL] plugin/loop: Loop (');
  expect(numberInFile()).toBe('none');
});

it('is gone when further signals end the process at once', async () => {
  const program = await serve('coredns', { lines: 'whoami\n  health 127.0.0.1:0 {\n    lameduck 1h\n  }' });
  program.signal('SIGTERM');
  await waitUntil('it to stop', () => program.output.includes('lameduck'));
  program.signal('SIGINT');
  program.signal('SIGTERM');
  await program.exit;
  expect(numberInFile()).toBe('none');
});

it('is not needed: without it CoreDNS serves', async () => {
  pidFile = '/nonexistent/pid';
  const program = runPortolan(await COMMANDS.coredns('whoami'));
  await waitUntil('the banner', () => program.ended !== undefined || program.output.includes('linux/'));
  expect(program.output).toContain(
    '[ERROR] Could not write pidfile: open /nonexistent/pid: no such file or directory\n',
  );
  program.signal('SIGTERM');
  expect((await program.exit).code).toBe(0);
});

itWithTool(['setpriv'], 'dnsmasq removes its pid file where it cannot become its user', async () => {
  const words = (await COMMANDS.dnsmasq()).filter((word) => !/^--(user|group)=$/.test(word));
  const program = runPortolan(words, {
    through: ['setpriv', '--bounding-set=-setuid,-setgid'],
  });
  expect((await program.exit).code).toBe(5);
  expect(program.errors).toContain('EPERM');
  expect(numberInFile()).toBe('none');
});
