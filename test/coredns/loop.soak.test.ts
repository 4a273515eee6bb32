/**
 * An upstream server that asks back the questions it gets: the process goes on, is not ready if it starts so, and recovers by itself.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { getQuestion, makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** Answers all names. While it loops, it asks for those of HINFO back, three times each, and passes on the first response. */
async function startUpstream(asksBackAt: number) {
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  client.bind(0, '127.0.0.1');
  await once(client, 'listening');
  client.setMaxListeners(0);
  const asked: string[] = [];
  const server = await LoopbackUpstream.start(({ query, octets, send }) => {
    const { name, type } = getQuestion(query);
    asked.push(name);
    if (upstream.isLooping && type === TYPE.HINFO) {
      client.once('message', send);
      for (let time = 0; time < 3; time += 1) client.send(octets, asksBackAt, '127.0.0.1');
      return;
    }
    send(reply(query, { answers: type === TYPE.A ? [makeAddressRecord(query, '192.0.2.1', 1)] : [] }));
  });
  onTestFinished(() => server.stop());
  const upstream = { port: server.port, isLooping: true, asked };
  return upstream;
}

const COMMANDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['coredns', []],
  [
    'node-cache',
    [
      '-localip',
      '127.0.0.1',
      '-setupinterface=false',
      '-setupiptables=false',
      '-metrics-listen-address',
      '127.0.0.1:0',
    ],
  ],
]);

async function start(role: string, flags: readonly string[] = [], isLooping = true) {
  const port = await findFreePort();
  const readyPort = await findFreePort();
  const upstream = await startUpstream(port);
  upstream.isLooping = isLooping;
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'Corefile',
    `.:${port} {\n bind 127.0.0.1\n errors\n ready 127.0.0.1:${readyPort}\n` +
      ` hosts {\n 192.0.2.9 own.example\n fallthrough\n }\n cache 30\n loop\n forward . 127.0.0.1:${upstream.port}\n}\n`,
  );
  const program = runPortolan([role, '-conf', conf, ...(COMMANDS.get(role) ?? []), ...flags]);
  const isReady = async () => {
    const response = await fetch(`http://127.0.0.1:${readyPort}/ready`).catch(() => undefined);
    return response?.status === 200;
  };
  return { program, upstream, isReady, server: { address: '127.0.0.1', port } };
}

const FOUND = /plugin\/loop: Loop \(127\.0\.0\.1:\d+ -> :?\S*\) detected for zone "\."/;

describe.each([...COMMANDS.keys()])('%s, whose upstream server asks back', (role) => {
  it('goes on, not ready, without forwarding, until the loop is gone', async () => {
    const { program, upstream, isReady, server } = await start(role);
    await waitUntil('the error', () => program.output.includes('[ERROR] plugin/loop: Loop'));
    expect(program.output).toMatch(FOUND);
    expect(await isReady()).toBe(false);
    for (const transport of ['udp', 'tcp'] as const) {
      const { header } = await ask(server, `${transport}.example.`, 'A', { transport });
      expect(header.rcode).toBe(RCODE.SERVFAIL);
    }
    expect(upstream.asked.filter((name) => name.endsWith('.example.'))).toEqual([]);
    expect((await ask(server, 'own.example.', 'A')).header.rcode).toBe(RCODE.NOERROR);
    upstream.isLooping = false;
    await waitUntil('the end of the loop', () => program.output.includes('is gone'));
    expect(await isReady()).toBe(true);
    expect((await ask(server, 'www.example.', 'A')).header.rcode).toBe(RCODE.NOERROR);
    expect(program.ended).toBe(undefined);
    expect(program.output.split('detected for zone')).toHaveLength(2);
  });

  it('stays ready if the loop comes later', async () => {
    const { program, upstream, isReady, server } = await start(role, [], false);
    await waitUntil('readiness', isReady);
    upstream.isLooping = true;
    program.signal('SIGUSR1');
    await waitUntil('the error', () => program.output.includes('[ERROR] plugin/loop: Loop'));
    expect((await ask(server, 'www.example.', 'A')).header.rcode).toBe(RCODE.SERVFAIL);
    expect((await ask(server, 'own.example.', 'A')).header.rcode).toBe(RCODE.NOERROR);
    expect(await isReady()).toBe(true);
  });

  it('ends as CoreDNS does where that is restored', async () => {
    const { program } = await start(role, ['-compat=loop-goes-on']);
    expect((await program.exit).code).toBe(1);
    expect(program.output).toMatch(FOUND);
    expect(program.output).toContain('[FATAL] plugin/loop: Loop');
  });
});

it('goes on where a block forwards to itself', async () => {
  const port = await findFreePort();
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'Corefile',
    `.:${port} {\n bind 127.0.0.1\n errors\n loop\n forward . 127.0.0.1:${port}\n}\n`,
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the error', () => program.output.includes('[ERROR] plugin/loop: Loop'));
  const { header } = await ask({ address: '127.0.0.1', port }, 'www.example.', 'A');
  expect(header.rcode).toBe(RCODE.SERVFAIL);
  expect(program.output).toContain('plugin/errors: 2 www.example. A: plugin/loop: Loop detected');
  expect(program.ended).toBe(undefined);
});
