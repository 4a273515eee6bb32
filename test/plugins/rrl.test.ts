/**
 * `rrl`, a plugin outside the program, in `portolan coredns`: one account for what readers and the main thread answer.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { type AskOptions, ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, vi } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** One is allowed; the next after 1,000 s. */
const RARELY = '0.001';

const corefile = (port: number, metrics: number, ...rrl: readonly string[]) =>
  [
    `.:${port} {`,
    'bind 127.0.0.1',
    `prometheus 127.0.0.1:${metrics}`,
    'rrl . {',
    ...rrl,
    '}',
    'hosts {',
    '192.0.2.7 own.test',
    'fallthrough',
    '}',
    'template IN A made.test {',
    'answer "{{ .Name }} 50 IN A 198.51.100.1"',
    '}',
    '}',
    '',
  ].join('\n');

async function start(...rrl: readonly string[]) {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const metrics = await findFreePort();
  const conf = await folder.write('Corefile', corefile(port, metrics, ...rrl));
  const program = runPortolan(['coredns', '-conf', conf, '-plugin=rrl=@portolan/rrl']);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  const resolve = async (name: string, options?: AskOptions) => {
    const { header, answers } = await ask({ address: '127.0.0.1', port }, name, 'A', options);
    return header.truncated ? 'truncated' : `${answers.length} answers`;
  };
  const count = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const labels = `server="dns://127.0.0.1:${port}",view=""`;
    return text.split('\n').find((line) => line.startsWith(`coredns_rrl_${name}_exceeded_total{${labels}}`));
  };
  const change = async (...lines: readonly string[]) => {
    await folder.write('Corefile', corefile(port, metrics, ...lines));
    program.signal('SIGUSR1');
  };
  return { resolve, count, change };
}

it('bounds responses of readers and of the chain alike, each by what it is alike in', async () => {
  const { resolve, count, change } = await start(`responses-per-second ${RARELY}`, 'slip-ratio 1');
  // A reader answers the first name. The chain answers the second, and a reader repeats that.
  for (const name of ['own.test.', 'a.made.test.']) {
    expect(await resolve(name)).toBe('1 answers');
    expect(await resolve(name)).toBe('truncated');
    expect(await resolve(name.toUpperCase())).toBe('truncated');
    expect(await resolve(name, { transport: 'tcp' })).toBe('1 answers');
  }
  expect(await count('responses')).toMatch(/ 4$/);
  // A change of the Corefile reaches the readers.
  await change('responses-per-second 0');
  await vi.waitFor(async () => expect(await resolve('own.test.')).toBe('1 answers'), 30_000);
  expect(await resolve('own.test.')).toBe('1 answers');
  // What exceeded the former rate stays counted.
  expect(Number((await count('responses'))?.split(' ').at(-1))).toBeGreaterThanOrEqual(4);
});

it('bounds requests over all transports together', async () => {
  const { resolve, count } = await start(`requests-per-second ${RARELY}`);
  expect(await resolve('own.test.')).toBe('1 answers');
  await expect(resolve('own.test.', { transport: 'tcp', deadline: 300 })).rejects.toThrow();
  await expect(resolve('a.made.test.', { deadline: 300 })).rejects.toThrow();
  expect(await count('requests')).toMatch(/ 2$/);
});

it('only counts with report-only', async () => {
  const { resolve, count } = await start(`responses-per-second ${RARELY}`, 'report-only');
  for (let turn = 0; turn < 3; turn += 1) expect(await resolve('own.test.')).toBe('1 answers');
  expect(await count('responses')).toMatch(/ 2$/);
});
