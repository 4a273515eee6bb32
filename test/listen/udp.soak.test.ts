/**
 * UDP by batches over real sockets and real threads.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Client, HandleQuery } from '@portolan/kernel/chain/query.ts';
import { PortInUseError } from '@portolan/kernel/socket/socket-error.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { startLoad } from './load.ts';
import { answerAuthoritatively, readFirstLabel } from './scripted-answers.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';

let threadEntry: URL;
let loadEntry: URL;
beforeAll(async () => {
  loadEntry = await bundleThread('test/listen/load-thread.ts');
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

const isAuthoritative = (message: Buffer): boolean => (message.readUInt8(2) & 0x04) !== 0;

describe('a reader', () => {
  it.each([
    ['udp4', '127.0.0.1', '127.0.0.1'],
    ['udp6', '::1', '::1'],
    ['udp4', '0.0.0.0', '127.0.0.2'],
    ['udp6', '::', '::1'],
  ] as const)('answers over %s on %s, from the address that was asked: %s', async (family, bound, asked) => {
    const listener = await startUdp({ threadEntry, addresses: [{ address: bound, port: 0 }] });
    const client = await startClient(family);
    const { message, from } = await client.ask('fast.example', { address: asked, port: getPort(listener) });
    expect(message.readUInt8(2) & 0x80).toBe(0x80);
    expect(from).toMatchObject({ address: asked, port: getPort(listener) });
    const slow = await client.ask('slow.example', { address: asked, port: getPort(listener) });
    expect(isAuthoritative(slow.message)).toBe(true);
    expect(slow.from).toMatchObject({ address: asked, port: getPort(listener) });
  });

  it('answers each of many packets with its own answer, whatever lies between them', async () => {
    const listener = await startUdp({ threadEntry });
    const client = await startClient();
    const port = getPort(listener);
    const kinds = ['fast', 'drop', 'slow', 'throw', 'fast', 'drop', 'drop', 'fast'];
    const asked = Array.from({ length: 2000 }, (_, index) => `${kinds[(index * 7) % kinds.length]}${index}`);
    const answered: string[] = [];
    for (let first = 0; first < asked.length; first += 100) {
      const round = asked.slice(first, first + 100).filter((name) => !name.startsWith('drop'));
      for (const name of asked.slice(first, first + 100)) {
        if (name.startsWith('drop'))
          client.send(Buffer.from(`xx\x01\0\0\x01\0\0\0\0\0\0\x04drop\0\0\x01\0\x01`), {
            address: '127.0.0.1',
            port,
          });
      }
      for (const { message } of await Promise.all(
        round.map((name) => client.ask(name, { address: '127.0.0.1', port })),
      )) {
        const name = readFirstLabel(message);
        answered.push(name);
        expect(isAuthoritative(message)).toBe(name.startsWith('slow'));
        expect(message.readUInt8(3) & 15).toBe(name.startsWith('throw') ? 2 : 0);
      }
    }
    expect(answered.sort()).toEqual(asked.filter((name) => !name.startsWith('drop')).sort());
    expect(client.strays).toBe(0);
    const [counts] = listener.count().readers;
    expect(counts?.packets).toBe(2000);
    expect(counts?.faults).toBe(asked.filter((name) => name.startsWith('throw')).length);
  });

  it('says FORMERR to a query longer than its memory', async () => {
    const listener = await startUdp({ threadEntry });
    const client = await startClient();
    const answer = client.ask('fast.example', { address: '127.0.0.1', port: getPort(listener) });
    const long = Buffer.alloc(1500);
    Buffer.from(`\x12\x34\x01\0\0\x01\0\0\0\0\0\x01\x04fast\0\0\x01\0\x01`, 'latin1').copy(long);
    client.send(long, { address: '127.0.0.1', port: getPort(listener) });
    await answer;
    await waitUntil('the stray answer', () => client.strays === 1);
    expect(listener.count().readers[0]?.cut).toBe(1);
  });

  it('serves several addresses', async () => {
    const addresses = ['127.0.0.1', '127.0.0.3', '::1'].map((address) => ({ address, port: 0 }));
    const listener = await startUdp({ threadEntry, addresses, readers: 2 });
    const clients = { udp4: await startClient('udp4'), udp6: await startClient('udp6') };
    expect(listener.endpoints.map(({ address }) => address)).toEqual(['127.0.0.1', '127.0.0.3', '::1']);
    for (let round = 0; round < 20; round++) {
      for (const { address, port } of listener.endpoints) {
        const client = clients[address.includes(':') ? 'udp6' : 'udp4'];
        for (const name of ['fast.example', 'slow.example']) {
          expect((await client.ask(name, { address, port })).from).toMatchObject({ address, port });
        }
      }
    }
  });

  it('goes on answering while the main thread is busy', async () => {
    const listener = await startUdp({ threadEntry });
    const load = startLoad(loadEntry, { port: getPort(listener), address: '127.0.0.1', sockets: 4 });
    await waitUntil('the first answers', () => load.answered > 0);
    const before = load.answered;
    // As long as a slow machine takes, and never longer than the load waits for an answer.
    const end = performance.now() + 4000;
    while (load.answered - before < 300 && performance.now() < end);
    expect(load.answered - before).toBeGreaterThanOrEqual(300);
    await load.stop();
    expect(load.lost).toBe(0);
  });

  it('that waits for more after a single packet takes together what comes meanwhile', async () => {
    const listener = await startUdp({ threadEntry, coalesce: 60_000 });
    const client = await startClient();
    const port = getPort(listener);
    await client.ask('fast.example', { address: '127.0.0.1', port });
    const answers = Array.from({ length: 5 }, (_, index) =>
      client.ask(`fast${index}`, { address: '127.0.0.1', port }),
    );
    await turn();
    // The order to end also ends the wait.
    await listener.stop(1000);
    await Promise.all(answers);
    expect(listener.count().readers[0]).toMatchObject({ batches: 2, packets: 6 });
  });

  it('that dies is replaced on the same socket', async () => {
    const dead: number[] = [];
    const listener = await startUdp({
      threadEntry,
      firstReader: 5,
      onReaderDead: (reader) => dead.push(reader),
    });
    const client = await startClient();
    client.send(queryFor('exit.example', 1), { address: '127.0.0.1', port: getPort(listener) });
    await waitUntil('the death', () => dead.length > 0);
    expect(
      (await client.ask('fast.example', { address: '127.0.0.1', port: getPort(listener) })).message,
    ).toBeDefined();
    await client.ask('slow.example', { address: '127.0.0.1', port: getPort(listener) });
    expect(dead).toEqual([5]);
    expect(listener.count().restarts).toBe(1);
    await listener.stop(0);
    expect(dead).toEqual([5, 5]);
  });

  it('that is down leaves its clients to the others, and comes back', async () => {
    const clock = new ManualClock();
    const dead: number[] = [];
    const onReaderDead = (reader: number) => void dead.push(reader);
    const listener = await startUdp({ threadEntry, readers: 2, clock, onReaderDead });
    const port = getPort(listener);
    expect(listener.count().down).toBe(0);
    const killer = await startClient();
    killer.send(queryFor('exit.example', 1), { address: '127.0.0.1', port });
    await waitUntil('the death', () => listener.count().down === 1);
    // Its successor starts after a pause, which this clock does not let pass.
    const [first = 0] = dead;
    const before = listener.count().readers.map(({ packets }) => packets);
    for (let turn = 0; turn < 40; turn++)
      await (await startClient()).ask('fast.example', { address: '127.0.0.1', port });
    expect(listener.count().readers[first]?.packets).toBe(before[first]);
    for (let turn = 0; turn < 4 && dead.at(-1) === first; turn++) {
      const deaths = dead.length;
      // The length of its pause.
      clock.advance(50 * 2 ** turn);
      await waitUntil('both readers', () => listener.count().down === 0);
      (await startClient()).send(queryFor('exit.example', 1), { address: '127.0.0.1', port });
      await waitUntil('a death', () => dead.length > deaths && listener.count().down === 1);
    }
    // The other one is down now, so it gets all.
    const received = listener.count().readers[first]?.packets ?? 0;
    for (let turn = 0; turn < 40; turn++)
      await (await startClient()).ask('fast.example', { address: '127.0.0.1', port });
    expect(dead.at(-1)).not.toBe(first);
    // Packets are counted when their answers have left.
    await waitUntil('all to be counted', () => listener.count().readers[first]?.packets === received + 40);
  });

  it('that dies again and again is replaced after longer and longer pauses', async () => {
    const clock = new ManualClock();
    const dead: number[] = [];
    const listener = await startUdp({ threadEntry, clock, onReaderDead: (reader) => dead.push(reader) });
    const client = await startClient();
    for (const [deaths, pause] of [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000].entries()) {
      client.send(queryFor('exit.example', 1), { address: '127.0.0.1', port: getPort(listener) });
      await waitUntil('the death', () => dead.length === deaths + 1);
      clock.advance(pause - 1);
      expect(clock.pending).toBe(1);
      clock.advance(1);
      expect(clock.pending).toBe(0);
    }
    await client.ask('fast.example', { address: '127.0.0.1', port: getPort(listener) });
  });
});

describe('slow questions', () => {
  it('beyond a client’s share are dropped and counted, and all others are still answered', async () => {
    const answers: (() => void)[] = [];
    const listener = await startUdp({
      threadEntry,
      maxUnanswered: 8,
      handleQuery: (query) =>
        new Promise((resolve) => answers.push(() => resolve(answerAuthoritatively(query)))),
    });
    const client = await startClient();
    const port = getPort(listener);
    // One client may have four of eight, so that others find room.
    const asked = Array.from({ length: 12 }, (_, index) =>
      client.ask(`slow${10 + index}`, { address: '127.0.0.1', port }, { deadline: 1500 }),
    );
    const settled = Promise.allSettled(asked);
    await waitUntil('the share to be used up', () => listener.count().slow.dropped === 8);
    await waitUntil('four to be asked', () => answers.length === 4);
    const other = await startClient('udp4', '127.0.0.7');
    const others = other.ask('slow30', { address: '127.0.0.1', port });
    await client.ask('fast', { address: '127.0.0.1', port });
    await waitUntil('the other client', () => answers.length === 5);
    expect(listener.count().slow).toMatchObject({ unanswered: 5 });
    for (const answer of answers.splice(0)) answer();
    await others;
    expect((await settled).filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect(listener.count().slow).toMatchObject({ unanswered: 0, dropped: 8 });
  });

  it('that are too old at their turn are dropped and counted, and nobody is asked', async () => {
    const asked: string[] = [];
    const listener = await startUdp({
      threadEntry,
      timeouts: { queue: 0, discard: 5_000 },
      handleQuery: async (query) => {
        asked.push(readFirstLabel(Buffer.from(query)));
        return answerAuthoritatively(query);
      },
    });
    const client = await startClient();
    client.send(queryFor('slow1', 1), { address: '127.0.0.1', port: getPort(listener) });
    await waitUntil('the drop', () => listener.count().slow.expired === 1);
    await client.ask('fast', { address: '127.0.0.1', port: getPort(listener) });
    expect(asked).toEqual([]);
    expect(client.strays).toBe(0);
    expect(listener.count().slow).toMatchObject({ asked: 1, unanswered: 0, late: 0 });
  });

  it('whose answers come too late are counted, and not answered', async () => {
    let late = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + late };
    const listener = await startUdp({
      threadEntry,
      clock,
      handleQuery: async (query) => {
        late = readFirstLabel(Buffer.from(query)) === 'slow-late' ? 5_000 : 0;
        return answerAuthoritatively(query);
      },
    });
    const client = await startClient();
    await client.ask('slow-prompt', { address: '127.0.0.1', port: getPort(listener) });
    client.send(queryFor('slow-late', 1), { address: '127.0.0.1', port: getPort(listener) });
    await waitUntil('the late answer', () => listener.count().slow.late === 1);
    await client.ask('slow-next', { address: '127.0.0.1', port: getPort(listener) });
    expect(client.strays).toBe(0);
    expect(listener.count().slow).toMatchObject({ asked: 3, unanswered: 0, expired: 0 });
  });

  it('of one client wait for those of another, who has asked fewer', async () => {
    const order: string[] = [];
    const listener = await startUdp({
      threadEntry,
      handleQuery: async (query, { address }) => {
        // As dear as a question can be.
        for (const end = performance.now() + 2; performance.now() < end; );
        order.push(address);
        return answerAuthoritatively(query);
      },
    });
    const hostile = await startClient();
    const other = await startClient('udp4', '127.0.0.7');
    const port = getPort(listener);
    const all = Array.from({ length: 200 }, (_, index) =>
      hostile.ask(`slow${index}`, { address: '127.0.0.1', port }),
    );
    await waitUntil('some answers', () => order.length > 5);
    const before = order.length;
    await other.ask('slow-other', { address: '127.0.0.1', port });
    expect(order.indexOf('127.0.0.7') - before).toBeLessThan(50);
    await Promise.all(all);
  });

  it('are answered SERVFAIL when answering fails, and not at all when there is nothing to say', async () => {
    const listener = await startUdp({
      threadEntry,
      handleQuery: async (query) => {
        if (readFirstLabel(query) === 'slow-silent') return undefined;
        throw new Error('a defect, as asked for');
      },
    });
    const client = await startClient();
    const silent = client
      .ask('slow-silent', { address: '127.0.0.1', port: getPort(listener) }, { deadline: 500 })
      .catch(String);
    const { message } = await client.ask('slow-failing', { address: '127.0.0.1', port: getPort(listener) });
    expect(message.readUInt8(3) & 15).toBe(2);
    expect(await silent).toContain('no answer');
    expect(listener.count().slow).toMatchObject({ asked: 2, unanswered: 0, faults: 1 });
  });

  it('tell who asks', async () => {
    const clients: Client[] = [];
    const addresses = [
      { address: '127.0.0.1', port: 0 },
      { address: '::1', port: 0 },
    ];
    const handleQuery: HandleQuery = async (query, client) => {
      clients.push(client);
      return answerAuthoritatively(query);
    };
    const listener = await startUdp({ threadEntry, addresses, handleQuery });
    const [four, six] = listener.endpoints;
    await (await startClient('udp4', '127.0.0.9')).ask('slow', {
      address: '127.0.0.1',
      port: four?.port ?? 0,
    });
    await (await startClient('udp6')).ask('slow', { address: '::1', port: six?.port ?? 0 });
    expect(clients).toMatchObject([
      { address: '127.0.0.9', transport: 'udp' },
      { address: '::1', transport: 'udp' },
    ]);
  });
});

describe('a port', () => {
  it('is free again when the reader threads could not be started', async () => {
    const addresses = [{ address: '127.0.0.1', port: await findFreePort() }];
    const missing = new URL('file:///no/such/thread.mjs');
    await expect(startUdp({ threadEntry: missing, addresses, readers: 2 })).rejects.toThrow(
      'no/such/thread.mjs',
    );
    await startUdp({ threadEntry, addresses });
  });

  it('is refused to a second process, unless it asks to join', async () => {
    const listener = await startUdp({ threadEntry });
    const addresses = listener.endpoints;
    const refusal = await startUdp({ threadEntry, addresses }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PortInUseError);
    expect(String(refusal)).toContain(`port in use: 127.0.0.1:${getPort(listener)} (udp)`);
    expect(String(refusal)).toContain('--takeover');
    await startUdp({ threadEntry, addresses, takeover: true });
  });
});
