/**
 * `portolan sidecar` as a program: with the original dnsmasq, with ours, and its command line.
 */

import { parsePrometheusText } from '@portolan/kernel/base/testing/prometheus-text.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllSides, runOurs, runReal, type Side } from '../dnsmasq/both.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(async () => {
  await endAllSides();
  await endAllPrograms();
});

/** A question that is under way when its server dies has two seconds. */
const PATIENT = { timeout: 10_000 };

interface Running {
  readonly program: Program;
  readonly origin: string;
}

async function runSidecar(...words: readonly string[]): Promise<Running> {
  const http = ['--prometheus-addr=127.0.0.1', '--prometheus-port=0'];
  const program = runPortolan(['sidecar', '--v=2', '-logtostderr', ...http, ...words]);
  const { port } = await program.heard('started');
  return { program, origin: `http://127.0.0.1:${port}` };
}

async function get({ origin }: Running, path: string) {
  const response = await fetch(`${origin}${path}`);
  return { status: response.status, text: await response.text() };
}

async function count({ origin }: Running, name: string): Promise<number | undefined> {
  const families = parsePrometheusText(await (await fetch(`${origin}/metrics`)).text());
  return families.get(`kubedns_dnsmasq_${name}`)?.samples[0]?.value;
}

/** One server, all its life. */
async function watch(server: Side): Promise<void> {
  const sidecar = await runSidecar(
    `--probe=dnsmasq,127.0.0.1:${server.port},known.test,1,A`,
    `--dnsmasq-port=${server.port}`,
    `--probe=aaaa,127.0.0.1:${server.port},known.test,1,AAAA`,
    '--dnsmasq-poll-interval-ms=50',
  );
  const status = async (label: string) => (await get(sidecar, `/healthcheck/${label}`)).status;
  await expect.poll(() => status('dnsmasq'), PATIENT).toBe(200);
  await expect.poll(() => count(sidecar, 'max_size'), PATIENT).toBe(77);
  const before = (await count(sidecar, 'hits')) ?? 0;
  for (let turn = 0; turn < 5; turn += 1) await askShort(server, 'known.test', 'A');
  await expect.poll(() => count(sidecar, 'hits'), PATIENT).toBeGreaterThanOrEqual(before + 5);
  expect(await count(sidecar, 'errors')).toBe(0);
  // There is no such record: an empty answer is no health.
  const reason = async () => JSON.parse((await get(sidecar, '/healthcheck/aaaa')).text).Err;
  await expect.poll(reason, PATIENT).toBe('no RRs for domain "known.test."');
  server.signal('SIGKILL');
  await expect.poll(() => status('dnsmasq'), PATIENT).toBe(503);
  await expect.poll(() => count(sidecar, 'errors'), PATIENT).toBeGreaterThan(0);
  expect(await count(sidecar, 'hits')).toBeGreaterThanOrEqual(before + 5);
  sidecar.program.signal('SIGTERM');
  expect(await sidecar.program.exit).toEqual({ code: 0, signal: null });
}

const WORDS = ['--no-resolv', '--no-hosts', '--cache-size=77', '--host-record=known.test,192.0.2.1'];

describe('beside a server', () => {
  itWithTool('dnsmasq', 'reads the original dnsmasq', async () => {
    await watch(await runReal(WORDS));
  });

  it('reads ours', async () => {
    await watch(await runOurs(WORDS));
  });
});

describe('the command line', () => {
  it('refuses what the original refuses, with all that is wrong', async () => {
    const program = runPortolan(['sidecar', '--probe=x', '--prometheus-prot=1']);
    expect(await program.exit).toEqual({ code: 2, signal: null });
    expect(program.errors).toBe(
      'portolan sidecar: --prometheus-prot: unknown flag. Did you mean --prometheus-port?\n' +
        'portolan sidecar: --probe: not three to five parts with commas between them: "x". ' +
        'Give label,server,name[,interval[,type]], as in kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV.\n',
    );
  });

  it('names every flag in its help', async () => {
    const program = runPortolan(['sidecar', '--help']);
    expect((await program.exit).code).toBe(0);
    for (const flag of [
      '--probe',
      '--dnsmasq-addr',
      '--dnsmasq-port',
      '--dnsmasq-poll-interval-ms',
      '--prometheus-addr',
      '--prometheus-namespace',
      '--prometheus-path',
      '--prometheus-port',
      '--version',
      '--v',
    ])
      expect(program.output).toContain(`  ${flag} `);
  });

  it('says its version, and whom it stands for', async () => {
    const program = runPortolan(['sidecar', '--version']);
    expect((await program.exit).code).toBe(0);
    expect(program.output).toMatch(/^Portolan version \S+, in place of sidecar 1\.26\n$/);
  });

  it('says why it cannot run', async () => {
    const first = await runSidecar();
    const { port } = new URL(first.origin);
    const second = runPortolan(['sidecar', '--prometheus-addr=127.0.0.1', `--prometheus-port=${port}`]);
    expect((await second.exit).code).toBe(1);
    expect(second.errors).toBe(
      `portolan sidecar: cannot listen for HTTP: 127.0.0.1, port ${port}: EADDRINUSE. Choose another with --prometheus-port.\n`,
    );
  });
});
