/**
 * Signals that must not end a server, in any command: SIGHUP, SIGUSR1 and SIGUSR2.
 */

import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, expect, it } from 'vitest';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

interface Case {
  readonly command: string;
  readonly args: readonly string[];
  /** The message that says that it serves, and the path that it then answers. */
  readonly started: string;
  readonly path: string;
  /** The flags that set its ports. */
  readonly ports: (http: number, dns: number) => readonly string[];
}

const CASES: readonly Case[] = [
  {
    command: 'serve',
    args: ['--example', '--log-format=json', '--dns-bind-address=127.0.0.1'],
    started: 'cluster listed',
    path: '/readyz',
    ports: (http, dns) => [`--healthz-port=127.0.0.1:${http}`, `--dns-port=${dns}`],
  },
  {
    command: 'sidecar',
    args: ['--prometheus-addr=127.0.0.1'],
    started: 'started',
    path: '/healthz',
    ports: (http) => [`--prometheus-port=${http}`],
  },
  {
    command: 'healthz',
    args: ['-cmd=true'],
    started: 'started',
    path: '/healthz',
    ports: (http) => [`-port=${http}`],
  },
];

async function isAnswering(program: Program, url: string): Promise<boolean> {
  await fetch(url);
  return program.ended === undefined;
}

it.each(CASES)('$command goes on after SIGHUP, SIGUSR1 and SIGUSR2, and ends after SIGINT', async (each) => {
  const port = await findFreePort();
  const program = runPortolan([each.command, ...each.args, ...each.ports(port, await findFreePort())]);
  await program.heard(each.started);
  for (const signal of ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) {
    program.signal(signal);
    expect(await isAnswering(program, `http://127.0.0.1:${port}${each.path}`)).toBe(true);
  }
  program.signal('SIGINT');
  const { hint } = await program.heard('stopping');
  expect(hint).toBe('Press Ctrl-C again to end at once.');
  expect(await program.exit).toEqual({ code: 0, signal: null });
});

it('serve reads its files again at SIGHUP, and clears its cache', async () => {
  const { program } = await servePortolan(['--example']);
  await program.heard('cluster listed');
  program.signal('SIGHUP');
  await program.heard('cleared cache');
  expect(program.ended).toBeUndefined();
});
