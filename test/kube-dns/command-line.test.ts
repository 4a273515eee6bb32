/**
 * `portolan kube-dns` as a process: its output about itself, the arguments that it refuses, and how it ends.
 */
import { join } from 'node:path';
import { KUBE_DNS_FLAGS } from '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

async function run(...words: readonly string[]) {
  const program = runPortolan(['kube-dns', ...words]);
  await program.exit;
  return program;
}

describe('portolan kube-dns', () => {
  it('shows every flag', async () => {
    const { output, ended } = await run('--help');
    for (const { name } of KUBE_DNS_FLAGS) expect(output).toMatch(new RegExp(`^  --${name} .*\\S$`, 'm'));
    expect(ended?.code).toBe(0);
  });

  it('shows its version', async () => {
    const { output, ended } = await run('--version');
    expect(output).toMatch(/^Portolan version \d\S*, in place of kube-dns 1\.26\n$/);
    expect(ended?.code).toBe(0);
  });

  it('refuses what it does not understand, all of it together', async () => {
    const { errors, ended } = await run(
      '--confg-dir=/x',
      '--dns-port=x',
      '--config-map=a',
      '--config-dir=/b',
    );
    expect(errors.split('\n')).toEqual([
      'portolan kube-dns: --confg-dir: unknown flag. Did you mean --config-dir?',
      'portolan kube-dns: --dns-port: not a whole number: "x". Give a port from 1 to 65535.',
      'portolan kube-dns: --config-map: given together with --config-dir: "a". Leave one out: settings come from one place.',
      '',
    ]);
    expect(ended?.code).toBe(2);
  });

  it('serves with the arguments of old, and says what of them has no effect', async () => {
    const folder = await makeTemporaryFolder();
    const port = await findFreePort();
    const health = await findFreePort();
    const program = runPortolan([
      'kube-dns',
      '--domain=cluster.local.',
      `--dns-port=${port}`,
      '--dns-bind-address=127.0.0.1',
      `--config-dir=${join(folder.path, 'config')}`,
      '--v=2',
      '--logtostderr',
      '-profiling',
      `--healthz-port=127.0.0.1:${health}`,
      '--example',
      '--lameduck=0s',
    ]);
    const ready = async () =>
      (await fetch(`http://127.0.0.1:${health}/readiness`).catch(() => undefined))?.status;
    await expect.poll(ready, { timeout: 20_000 }).toBe(200);
    const server = { address: '127.0.0.1', port };
    // A wildcard, which this dialect alone has.
    expect(await askShort(server, 'kubernetes.*.svc.cluster.local', 'A')).toBe('10.96.0.1');
    expect((await fetch(`http://127.0.0.1:${health}/cache`)).status).toBe(200);
    expect(program.errors).toContain('portolan kube-dns: --profiling has no effect');
    program.signal('SIGTERM');
    expect((await program.exit).code).toBe(0);
  });
});
