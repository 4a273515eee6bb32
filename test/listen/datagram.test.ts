/**
 * UDP on the main thread: the same answers as by batches.
 */

import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { type DatagramOptions, listenByDatagrams } from '@portolan/kernel/listen/datagram.ts';
import type { UdpListener } from '@portolan/kernel/listen/udp-listener.ts';
import { PortInUseError } from '@portolan/kernel/socket/socket-error.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerAuthoritatively, ScriptedAnswers } from './scripted-answers.ts';
import { getPort, startClient } from './scripted-udp.ts';

async function startDatagrams(changes: Partial<DatagramOptions> = {}): Promise<UdpListener> {
  const listener = await listenByDatagrams({
    addresses: [{ address: '127.0.0.1', port: 0 }],
    answers: new ScriptedAnswers(),
    handleQuery: async (query) => answerAuthoritatively(query),
    udpSize: 1232,
    maxUnanswered: 10,
    clock: systemClock,
    log: silentLog,
    ...changes,
  });
  onTestFinished(() => listener.stop(0));
  return listener;
}

describe('datagrams', () => {
  it.each([
    ['udp4', '127.0.0.1', '127.0.0.1'],
    ['udp4', '127.0.0.5', '127.0.0.5'],
    ['udp4', '0.0.0.0', '127.0.0.1'],
    ['udp6', '::1', '::1'],
    ['udp6', '::', '::1'],
  ] as const)('are answered over %s on %s, from %s', async (family, address, asked) => {
    const listener = await startDatagrams({ addresses: [{ address, port: 0 }] });
    const client = await startClient(family);
    for (const [name, flags, code] of [
      ['fast.example', 0x81, 0],
      ['slow.example', 0x85, 0],
      ['throw.example', 0x81, 2],
    ] as const) {
      const { message, from } = await client.ask(name, { address: asked, port: getPort(listener) });
      expect([message.readUInt8(2), message.readUInt8(3)]).toEqual([flags, code]);
      expect(from).toMatchObject({ address: asked, port: getPort(listener) });
    }
    client.send(queryFor('drop.example', 1), { address: asked, port: getPort(listener) });
    client.send(Buffer.from('short'), { address: asked, port: getPort(listener) });
    await waitUntil('all to arrive', () => listener.count().readers[0]?.packets === 5);
    expect(listener.count()).toMatchObject({ readers: [{ faults: 1, refused: 0 }], slow: { asked: 1 } });
    expect(client.strays).toBe(0);
  });

  it('are dropped while too many are unanswered, and the others answered before the listener stops', async () => {
    const answers: (() => void)[] = [];
    const listener = await startDatagrams({
      maxUnanswered: 2,
      handleQuery: (query) =>
        new Promise((resolve) => answers.push(() => resolve(answerAuthoritatively(query)))),
    });
    const client = await startClient();
    const slow = [1, 2].map((index) =>
      client.ask(`slow${index}`, { address: '127.0.0.1', port: getPort(listener) }),
    );
    // Both have had their turn: a question that waits for it gives way to a newer one of its client.
    await waitUntil('two questions', () => answers.length === 2);
    client.send(queryFor('slow3', 3), { address: '127.0.0.1', port: getPort(listener) });
    await waitUntil('the drop', () => listener.count().slow.dropped === 1);
    await client.ask('fast.example', { address: '127.0.0.1', port: getPort(listener) });
    const stopped = listener.stop(60_000);
    for (const answer of answers) answer();
    await Promise.all([...slow, stopped]);
  });

  it('that are too old at their turn, or answered too late, are dropped and counted', async () => {
    const names: string[] = [];
    const handleQuery = async (query: Uint8Array) => {
      names.push('asked');
      return answerAuthoritatively(query);
    };
    const client = await startClient();
    const stale = await startDatagrams({ handleQuery, timeouts: { queue: 0, discard: 5_000 } });
    client.send(queryFor('slow1', 1), { address: '127.0.0.1', port: getPort(stale) });
    await waitUntil('the drop', () => stale.count().slow.expired === 1);
    expect(names).toEqual([]);
    const slow = await startDatagrams({ handleQuery, timeouts: { queue: 5_000, discard: 0 } });
    client.send(queryFor('slow2', 2), { address: '127.0.0.1', port: getPort(slow) });
    await waitUntil('the late answer', () => slow.count().slow.late === 1);
    await client.ask('fast.example', { address: '127.0.0.1', port: getPort(slow) });
    expect(names).toEqual(['asked']);
    expect(client.strays).toBe(0);
  });

  it('need a port of their own', async () => {
    const listener = await startDatagrams();
    await expect(startDatagrams({ addresses: listener.endpoints })).rejects.toThrow(PortInUseError);
  });
});
