/**
 * The real dnsmasq, running on a port of its own until the test is over.
 */
import { spawnSync } from 'node:child_process';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { Program } from '@portolan/testing/program.ts';
import { onTestFinished } from 'vitest';

export interface RunningDnsmasq {
  /** On 127.0.0.1. */
  readonly port: number;
  /** What it had logged when it was up, one line each, without the prefix. */
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
  const command = ['dnsmasq', '-k', '--log-facility=-', `--port=${port}`, ...HERE, ...words];
  const program = new Program(command, { environment: { ...process.env, LC_ALL: 'C.UTF-8' } });
  onTestFinished(() => program.end());
  const isUp = () => readLines(program).some((line) => /^(read .* names|cleared cache)/.test(line));
  await waitUntil('dnsmasq to run', () => isUp() || program.process.exitCode !== null);
  if (!isUp()) throw new Error(`dnsmasq does not run: ${readLines(program).join('; ')}`);
  return { port, log: readLines(program), ask: (name, type) => dig(port, name, type) };
}

function readLines({ errors }: Program): readonly string[] {
  return errors
    .split('\n')
    .slice(0, -1)
    .map((line) => line.replace(/^dnsmasq(\[\d+\])?: /, ''));
}

function dig(port: number, name: string, type: string): readonly string[] {
  const options = ['@127.0.0.1', '-p', String(port), '+noall', '+answer', '+nosplit', '+time=5', '+tries=1'];
  const run = spawnSync(CLIENT, [...options, '-q', name, '-t', type], { encoding: 'utf8' });
  return run.stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/[ \t]+/g, ' ')]));
}
