/**
 * No command ends wrongly because nobody reads its standard output or standard error: a log collector restarts, or `head` has enough.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMMANDS } from '@portolan/cli/command-table.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { formatSocketName } from '../support/control.ts';
import { endAllPrograms, look, runPortolan, type Serving, servePortolan } from '../support/portolan.ts';
import { ALL_ROLES, HOST, type Role, startRole } from '../support/roles.ts';
import { itWithTool } from '../support/tools.ts';

/** Commands that end by themselves, as they are run, with their exit codes. */
const ENDING: Readonly<Record<string, readonly [words: readonly string[], code: number]>> = {
  manifests: [['--image=registry.example/portolan:1'], 0],
  image: [['--help'], 0],
  corefile: [['check', 'COREFILE'], 0],
  explain: [['cart.shop.svc.cluster.local', '--manifests=EXAMPLES'], 0],
  doctor: [['--socket=@nobody'], 3],
  ndots: [['--socket=@nobody'], 3],
  compare: [['--help'], 0],
  shadow: [['--help'], 0],
  diff: [['COREFILE', 'COREFILE', '--output=json'], 0],
  preflight: [['--help'], 0],
  swap: [['--help'], 0],
  control: [['status', '--socket=SERVER'], 0],
  completion: [['bash'], 0],
  man: [[], 0],
  systemd: [['serve'], 0],
  version: [[], 0],
  // They fail without a cluster, and say why.
  autoscaler: [['--namespace=a', '--configmap=b', '--target=deployment/c'], 1],
  kube2sky: [[], 1],
};
/** Commands that run until a signal, beside the servers; each with the port where it is seen to run. */
const RUNNING: Readonly<Record<string, (port: number) => readonly string[]>> = {
  sidecar: (port) => [`--prometheus-addr=${HOST}`, `--prometheus-port=${port}`],
  healthz: (port) => ['-cmd=true', `-port=${port}`],
  dashboard: (port) => [`--port=${port}`, '--socket=@nobody'],
};
const ENDLESS = ['tail', 'top'];
/** Flags of servers that would serve on after a signal. */
const ENDS_AT_ONCE: Readonly<Record<string, readonly string[]>> = {
  serve: ['--lameduck=0s'],
  'kube-dns': ['--lameduck=0s'],
};

let serving: Serving;
let places: Readonly<Record<string, string>>;

beforeAll(async () => {
  const { path } = await makeTemporaryFolder(afterFile);
  await writeFile(join(path, 'one'), '. {\n whoami\n}\n');
  serving = await servePortolan(['--example']);
  places = {
    COREFILE: join(path, 'one'),
    EXAMPLES: 'examples/cluster',
    SERVER: formatSocketName(serving.program, 'serve'),
  };
});
afterAll(endAllPrograms);

/** Runs a command whose output nobody reads, from its start. */
function runUnread(words: readonly string[]): Program {
  const named = words.map((word) => word.replace(/[A-Z]{4,}$/, (place) => places[place] ?? place));
  const program = runPortolan(named);
  closeOutputs(program);
  return program;
}

function closeOutputs({ process: { stdout, stderr } }: Program): void {
  stdout?.destroy();
  stderr?.destroy();
}

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(({ query, send }) =>
    send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.1')] })),
  );
  onTestFinished(() => upstream.stop());
  return upstream;
}

async function isOpen(port: number): Promise<boolean> {
  return await fetch(`http://${HOST}:${port}/`).then(
    () => true,
    () => false,
  );
}

it('has a case for each command', () => {
  const tried = [...Object.keys(ENDING), ...Object.keys(RUNNING), ...ENDLESS, ...ALL_ROLES];
  expect(tried.sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
});

describe('a command that ends keeps its exit code', () => {
  for (const [name, [words, code]] of Object.entries(ENDING))
    it.concurrent(name, async () => {
      expect(await runUnread([name, ...words]).exit).toEqual({ code, signal: null });
    });

  it('but fails if its output is lost otherwise', async () => {
    const program = runPortolan(['man'], { through: ['/bin/sh', '-c', 'exec "$0" "$@" > /dev/full'] });
    expect(await program.exit).toEqual({ code: 1, signal: null });
    expect(program.errors).toMatch(/^portolan: cannot write to standard output: ENOSPC.*\n$/);
  });
});

describe('a command that prints endless data ends', () => {
  for (const name of ENDLESS)
    it(name, async () => {
      const program = runUnread([name, '--socket=SERVER']);
      const asking = async () => {
        await ask(serving, 'cart.shop.svc.cluster.local', 'A');
        return program.ended;
      };
      await expect.poll(asking).toEqual({ code: 0, signal: null });
    });
});

describe('a program runs on', () => {
  for (const [name, words] of Object.entries(RUNNING))
    it(name, async () => {
      const port = await findFreePort();
      const program = runUnread([name, ...words(port)]);
      await expect.poll(() => isOpen(port)).toBe(true);
      program.signal('SIGTERM');
      expect(await program.exit).toEqual({ code: 0, signal: null });
    });
});

describe('a server serves on', () => {
  for (const role of [...ALL_ROLES, 'coredns -compat'] as const)
    itWithTool(role === 'skydns' ? ['etcd'] : [], role, async () => {
      const { program, address, port } = await startServer(role);
      closeOutputs(program);
      // They log lines.
      for (const signal of ['SIGUSR1', 'SIGHUP'] as const) program.signal(signal);
      for (const name of ['one.test', 'two.test'])
        expect(await askShort({ address, port }, name, 'A')).toBe('192.0.2.1');
      program.signal('SIGTERM');
      expect(await program.exit).toEqual({ code: 0, signal: null });
    });

  it('and counts the lines of its log that are lost', async () => {
    const own = await servePortolan(['--example']);
    const lost = async () => {
      const { text } = await look(own, '/metrics');
      return Number(/^portolan_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
    };
    expect(await lost()).toBe(0);
    closeOutputs(own.program);
    own.program.signal('SIGUSR1');
    await expect.poll(lost).toBeGreaterThan(0);
  });
});

async function startServer(role: Role | 'coredns -compat') {
  const { port: upstream } = await startUpstream();
  if (role === 'coredns -compat')
    return await startRole('coredns', { upstream }, { flags: ['-compat', '1.14'] });
  return await startRole(role, { upstream }, { flags: ENDS_AT_ONCE[role] ?? [] });
}
