/**
 * A process that takes over gets the cache of the previous process, in every role that can take over.
 */

import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { makeName, NAMES, startUpstream } from '../resolver/forwarding-programs.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

interface Replaceable {
  /** Starts a process at the same port; ends when it serves. @param seconds a TTL among its settings */
  start(seconds: number): Promise<Program>;
  readonly server: DnsServer;
}

async function makeServe(upstream: string): Promise<Replaceable> {
  const port = await findFreePort();
  return {
    server: { address: '127.0.0.1', port },
    async start(seconds) {
      const flags = [
        '--example',
        '--takeover',
        '--upstream',
        upstream,
        '--ttl',
        String(seconds),
        '--lameduck',
        '0s',
      ];
      return (await servePortolan(flags, { port })).program;
    },
  };
}

async function makeNodeCache(upstream: string): Promise<Replaceable> {
  const port = await findFreePort();
  const folder = await makeTemporaryFolder();
  return {
    server: { address: '127.0.0.1', port },
    async start(seconds) {
      const health = await findFreePort();
      const block = `errors\n cache ${seconds}\n bind 127.0.0.1\n forward . ${upstream}\n health 127.0.0.1:${health}`;
      const conf = await folder.write(`Corefile-${seconds}`, `.:${port} {\n ${block}\n}\n`);
      const program = runPortolan([
        'node-cache',
        '-takeover',
        '-conf',
        conf,
        '-localip',
        '127.0.0.1',
        '-setupinterface=false',
        '-setupiptables=false',
        '-metrics-listen-address',
        '127.0.0.1:0',
      ]);
      await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
      expect(program.ended, program.errors).toBe(undefined);
      return program;
    },
  };
}

async function askAll(server: DnsServer): Promise<void> {
  for (let index = 0; index < NAMES; index += 1)
    expect(await askShort(server, makeName(index), 'A')).toBe('192.0.2.1');
}

describe.each([
  ['serve', makeServe],
  ['node-cache', makeNodeCache],
])('%s', (_, make) => {
  it('goes on with the cache of the process before', async () => {
    const upstream = await startUpstream();
    const { server, start } = await make(upstream.address);
    const first = await start(300);
    await askAll(server);
    const { length } = upstream.questions;
    await start(300);
    first.signal('SIGTERM');
    await first.exit;
    await askAll(server);
    expect(upstream.questions.slice(length)).toEqual([]);
  });

  it('starts with an empty cache if its settings differ', async () => {
    const upstream = await startUpstream();
    const { server, start } = await make(upstream.address);
    const first = await start(300);
    await askAll(server);
    const { length } = upstream.questions;
    await start(200);
    first.signal('SIGTERM');
    await first.exit;
    await askAll(server);
    // A reply that is late is asked for again.
    expect(new Set(upstream.questions.slice(length)).size).toBe(NAMES);
  });
});
