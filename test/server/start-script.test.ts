/**
 * `npm start`: its own settings, and flags that replace them.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { expect, it, onTestFinished } from 'vitest';

const SCRIPT = 'scripts/start.mjs';
// Nothing of the machine that the tests run on: neither its kubeconfig nor its cluster.
const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' };

it.each(['--help', '-h'])('prints the flags of serve with %s, and nothing else', (flag) => {
  const { stdout, status } = spawnSync(process.execPath, [SCRIPT, flag], { encoding: 'utf8', env });
  expect(stdout).toMatch(/^Usage: portolan serve \[flags\]/);
  expect(stdout).not.toContain('Try:');
  expect(status).toBe(0);
});

it.each([
  ['in one argument', (address: string) => [`--dns-bind-address=${address}`]],
  ['in two arguments', (address: string) => ['--dns-bind-address', address]],
])('serves the example on the address that is given %s', async (_form, makeFlags) => {
  const port = await findFreePort();
  const args = [SCRIPT, ...makeFlags('127.0.0.2'), `--dns-port=${port}`, '--log-format=json'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const log: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    log.push(line);
    if (line.includes('"message":"serving"')) break;
  }
  expect(log.join('\n')).toContain(`"addresses":"127.0.0.2:${port}"`);
  expect(log.join('\n')).toMatch(
    /"message":"serving the dashboard","address":"http:\/\/127\.0\.0\.1:\d+\/#token=/,
  );
  const line = `Try:  dig @127.0.0.2 -p ${port} cart.shop.svc.cluster.local`;
  await expect.poll(() => output, { timeout: 20_000 }).toContain(line);
  // The line says that the server answers.
  expect(await askShort({ address: '127.0.0.2', port }, 'cart.shop.svc.cluster.local', 'A')).toMatch(/^10\./);
  const next = 'Next, in another terminal:  node dist/portolan.js explain cart.shop';
  await expect.poll(() => output, { timeout: 20_000 }).toContain(next);
});
