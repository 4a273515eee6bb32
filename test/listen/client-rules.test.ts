/**
 * The permissions of clients by address, over real sockets: by batches, by datagrams and over TCP.
 */

import { frame } from '@portolan/dns/frames.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { type ClientRules, shareClientRules } from '@portolan/kernel/listen/client-rules.ts';
import { listenByDatagrams } from '@portolan/kernel/listen/datagram.ts';
import { listenOnTcp } from '@portolan/kernel/listen/tcp.ts';
import type { UdpListener } from '@portolan/kernel/listen/udp-listener.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { answerAuthoritatively, ScriptedAnswers } from './scripted-answers.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';
import { TcpClient } from './tcp-client.ts';

const SEED = 4711;
const RULES: ClientRules = {
  access: [],
  queryRate: undefined,
  responseRate: undefined,
  slip: 0,
  prefixLengths: { ipv4: 32, ipv6: 128 },
};
const ACCESS: ClientRules['access'] = [
  { clients: { address: '127.0.0.0', prefix: 8 }, action: 'refuse' },
  { clients: { address: '127.0.7.0', prefix: 24 }, action: 'allow' },
  { clients: { address: '127.0.7.8', prefix: 32 }, action: 'drop' },
];

let threadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

const dependencies = {
  addresses: [{ address: '127.0.0.1', port: 0 }],
  answers: new ScriptedAnswers(),
  handleQuery: async (query: Uint8Array) => answerAuthoritatively(query),
  udpSize: 1232,
  clock: systemClock,
  log: silentLog,
};

async function listen(kind: 'batches' | 'datagrams', changes: Partial<ClientRules>): Promise<UdpListener> {
  const clientRules = shareClientRules({ ...RULES, ...changes }, SEED);
  if (kind === 'batches') return startUdp({ threadEntry, clientRules });
  const listener = await listenByDatagrams({ ...dependencies, clientRules });
  onTestFinished(() => listener.stop(0));
  return listener;
}

const readRcode = (message: Buffer): number => message.readUInt8(3) & 15;

describe.each(['batches', 'datagrams'] as const)('over UDP by %s', (kind) => {
  it.each(['fast', 'slow'])(
    'clients are allowed, refused and dropped by their longest prefix: %s',
    async (name) => {
      const listener = await listen(kind, { access: ACCESS });
      const port = getPort(listener);
      const [allowed, refused, dropped] = [
        await startClient('udp4', '127.0.7.7'),
        await startClient('udp4', '127.0.0.9'),
        await startClient('udp4', '127.0.7.8'),
      ];
      expect(readRcode((await allowed.ask(name, { address: '127.0.0.1', port })).message)).toBe(0);
      expect(readRcode((await refused.ask(name, { address: '127.0.0.1', port })).message)).toBe(5);
      await expect(dropped.ask(name, { address: '127.0.0.1', port }, { deadline: 200 })).rejects.toThrow(
        'no answer',
      );
    },
  );

  it('queries beyond a rate are dropped, and some get a truncated response', async () => {
    const listener = await listen(kind, { queryRate: 5, slip: 2 });
    const busy = await startClient('udp4', '127.0.7.7');
    const other = await startClient('udp4', '127.0.7.8');
    const port = getPort(listener);
    const answers = await Promise.all(
      Array.from({ length: 25 }, () =>
        busy.ask('fast', { address: '127.0.0.1', port }, { deadline: 500 }).catch(() => undefined),
      ),
    );
    const messages = answers.flatMap((answer) => (answer === undefined ? [] : [answer.message]));
    const truncated = messages.filter((message) => (message.readUInt8(2) & 2) !== 0);
    // Some milliseconds pass meanwhile, in which one more may be within the rate.
    expect(messages.length - truncated.length).toBeGreaterThanOrEqual(5);
    expect(messages.length - truncated.length).toBeLessThanOrEqual(7);
    expect(truncated.length).toBeGreaterThanOrEqual(9);
    expect(truncated.length).toBeLessThanOrEqual(10);
    for (const message of truncated) expect(message.length).toBe(queryFor('fast', 1).length);
    expect((await other.ask('fast', { address: '127.0.0.1', port })).message.readUInt8(2) & 2).toBe(0);
  });
});

it.each([
  ['batches', 'fast'],
  ['batches', 'slow'],
  ['datagrams', 'fast'],
  ['datagrams', 'slow'],
] as const)('by %s like responses beyond a rate are dropped, others are sent: %s', async (kind, name) => {
  const listener = await listen(kind, { responseRate: 5 });
  const client = await startClient('udp4', '127.0.7.7');
  const port = getPort(listener);
  const like = await Promise.all(
    Array.from({ length: 20 }, () =>
      client.ask(name, { address: '127.0.0.1', port }, { deadline: 500 }).catch(() => undefined),
    ),
  );
  const count = like.filter((answer) => answer !== undefined).length;
  expect(count).toBeGreaterThanOrEqual(5);
  expect(count).toBeLessThanOrEqual(7);
  await client.ask(`${name}other`, { address: '127.0.0.1', port });
  await waitUntil('the counts', () => {
    const { readers, slow } = listener.count();
    return readers.reduce((sum, { limited }) => sum + limited, slow.limited) === 20 - count;
  });
});

it('over TCP clients are allowed, refused and dropped alike, and no rate counts', async () => {
  const clientRules = shareClientRules({ ...RULES, access: ACCESS, queryRate: 1, responseRate: 1 }, SEED);
  const listener = await listenOnTcp({ ...dependencies, clientRules, takeover: false, native: true });
  onTestFinished(() => listener.stop(0));
  const connectFrom = (address: string) =>
    new TcpClient(listener.endpoints[0]?.port ?? 0, '127.0.0.1', address);
  const [allowed, refused, dropped] = ['127.0.7.7', '127.0.0.9', '127.0.7.8'].map(connectFrom);
  const queries = Buffer.concat([1, 2, 3].map((id) => frame(queryFor('fast', id))));
  for (const client of [allowed, refused, dropped]) client?.send(queries);
  expect((await allowed?.waitForMessages(3))?.map(readRcode)).toEqual([0, 0, 0]);
  expect((await refused?.waitForMessages(3))?.map(readRcode)).toEqual([5, 5, 5]);
  await waitUntil('the end', () => dropped?.isEnded === true);
  expect(dropped?.messages).toEqual([]);
});
