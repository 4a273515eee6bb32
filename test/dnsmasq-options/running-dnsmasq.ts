/**
 * The real dnsmasq, running on a port of its own until the test is over.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { onTestFinished } from 'vitest';

export interface RunningDnsmasq {
  /** On 127.0.0.1. */
  readonly port: number;
  /** What it has logged, one line each, without the prefix. */
  readonly log: readonly string[];
  /** The lines of dig's answer section. */
  ask(name: string, type: string): readonly string[];
}

const CLIENT = 'dig';
const HERE = [
  '--listen-address=127.0.0.1',
  '--bind-interfaces',
  '--user=',
  '--group=',
  '--pid-file=',
  '--no-resolv',
];

/** @param words options beside those that keep it to this machine and to its test */
export async function runDnsmasq(words: readonly string[]): Promise<RunningDnsmasq> {
  const port = await findFreePort();
  const child = spawn('dnsmasq', ['-k', '--log-facility=-', `--port=${port}`, ...HERE, ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  onTestFinished(() => stop(child));
  const log = collectLines(child);
  const isUp = () => log.some((line) => /^(read .* names|cleared cache)/.test(line));
  await waitUntil('dnsmasq to run', () => isUp() || child.exitCode !== null);
  if (!isUp()) throw new Error(`dnsmasq does not run: ${log.join('; ')}`);
  return { port, log, ask: (name, type) => dig(port, name, type) };
}

function collectLines(child: ChildProcess): string[] {
  const log: string[] = [];
  let unfinished = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (unfinished + text).split('\n');
    unfinished = lines.pop() ?? '';
    log.push(...lines.map((line) => line.replace(/^dnsmasq(\[\d+\])?: /, '')));
  });
  return log;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function dig(port: number, name: string, type: string): readonly string[] {
  const options = ['@127.0.0.1', '-p', String(port), '+noall', '+answer', '+nosplit', '+time=5', '+tries=1'];
  const run = spawnSync(CLIENT, [...options, '-q', name, '-t', type], { encoding: 'utf8' });
  return run.stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/[ \t]+/g, ' ')]));
}
