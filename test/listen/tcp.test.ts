/**
 * TCP over real sockets: framing, pipelining, limits, garbage, shutdown.
 */

import { frame } from '@portolan/dns/frames.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { TcpListener } from '@portolan/kernel/listen/tcp.ts';
import { PortInUseError } from '@portolan/kernel/socket/socket-error.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerAuthoritatively, HeldAnswers } from './scripted-answers.ts';
import { startTcp } from './scripted-listener.ts';
import { TcpClient } from './tcp-client.ts';

function connectTo(listener: TcpListener, localAddress?: string): TcpClient {
  const [endpoint] = listener.endpoints;
  return new TcpClient(endpoint?.port ?? 0, endpoint?.address ?? '', localAddress);
}

const framed = (name: string, id: number): Uint8Array => frame(queryFor(name, id));
const readIds = (messages: readonly Buffer[]): number[] => messages.map((message) => message.readUInt16BE(0));

describe('queries over TCP', () => {
  it.each([
    ['127.0.0.1', true],
    ['::1', true],
    ['0.0.0.0', true],
    ['127.0.0.1', false],
    ['::1', false],
  ])('are answered on %s (through the C library: %s)', async (address, native) => {
    const listener = await startTcp({ addresses: [{ address, port: 0 }], native });
    const client = connectTo(listener);
    client.send(framed('fast.example', 7));
    client.send(framed('slow.example', 8));
    expect(readIds(await client.waitForMessages(2))).toEqual([7, 8]);
  });

  it('that have waited too long get SERVFAIL, and nobody is asked; the table still answers', async () => {
    const asked: number[] = [];
    const client = connectTo(
      await startTcp({
        timeouts: { queue: 0, discard: 0 },
        handleQuery: async (query) => {
          asked.push(query.length);
          return answerAuthoritatively(query);
        },
      }),
    );
    client.send(Buffer.concat([framed('slow1', 1), framed('fast', 2), framed('slow3', 3)]));
    const messages = await client.waitForMessages(3);
    expect(readIds(messages)).toEqual([1, 2, 3]);
    expect(messages.map((message) => message.readUInt8(3) & 15)).toEqual([2, 0, 2]);
    expect(asked).toEqual([]);
  });

  it('are as old as the piece of the stream that ends them', async () => {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    const held = new HeldAnswers();
    const listener = await startTcp({ clock, handleQuery: held.handleQuery });
    const client = connectTo(listener);
    // The first half of a query is old, but the query is not.
    const query = framed('slow1', 1);
    client.send(query.subarray(0, 9));
    await waitUntil('the first half', () => listener.count().heldOctets > 0);
    now = 6_000;
    client.send(query.subarray(9));
    await waitUntil('the question', () => held.count === 1);
    held.release();
    expect(readIds(await client.waitForMessages(1))).toEqual([1]);
    expect(listener.count().expired).toBe(0);
  });

  it('are answered when a hundred come in one segment', async () => {
    const client = connectTo(await startTcp());
    client.send(Buffer.concat(Array.from({ length: 100 }, (_, id) => framed('fast.example', id))));
    expect(readIds(await client.waitForMessages(100))).toEqual(Array.from({ length: 100 }, (_, id) => id));
  });

  it('are answered when they come octet by octet', async () => {
    const client = connectTo(await startTcp());
    client.socket.setNoDelay(true);
    for (const octet of [...framed('fast.example', 1), ...framed('slow.example', 2)]) {
      await new Promise<void>((resolve) => client.socket.write(Uint8Array.of(octet), () => resolve()));
    }
    expect(readIds(await client.waitForMessages(2))).toEqual([1, 2]);
  });

  it('are answered out of order, each when it is ready', async () => {
    const held = new HeldAnswers();
    const client = connectTo(await startTcp({ handleQuery: held.handleQuery }));
    client.send(Buffer.concat([framed('slow', 1), framed('fast', 2), framed('slow', 3), framed('fast', 4)]));
    expect(readIds(await client.waitForMessages(2))).toEqual([2, 4]);
    held.release();
    expect(readIds(await client.waitForMessages(4))).toEqual([2, 4, 1, 3]);
  });

  it('are answered SERVFAIL where answering fails, at once or later', async () => {
    const handleQuery = (): Promise<never> => Promise.reject(new Error('a defect, as asked for'));
    const listener = await startTcp({ handleQuery });
    const client = connectTo(listener);
    client.send(Buffer.concat([framed('throw', 1), framed('slow', 2), framed('fast', 3)]));
    const messages = await client.waitForMessages(3);
    const codes = new Map(messages.map((message) => [message.readUInt16BE(0), message.readUInt8(3) & 15]));
    expect(codes).toEqual(
      new Map([
        [1, 2],
        [2, 2],
        [3, 0],
      ]),
    );
    expect(listener.count().faults).toBe(2);
  });

  it('are answered although the client has closed its side', async () => {
    const held = new HeldAnswers();
    const listener = await startTcp({ handleQuery: held.handleQuery });
    const client = connectTo(listener);
    client.socket.end(Buffer.concat([framed('fast', 1), framed('slow', 2)]));
    await waitUntil('the slow question', () => held.count === 1);
    held.release();
    expect(readIds(await client.waitForMessages(2))).toEqual([1, 2]);
    await waitUntil('the end', () => client.isClosed && listener.count().open === 0);
    expect(listener.count().ended.client).toBe(1);
  });
});

describe('a connection', () => {
  it('owes so many answers at most, and reads on when it has given some', async () => {
    const held = new HeldAnswers();
    const client = connectTo(await startTcp({ handleQuery: held.handleQuery, limits: { owed: 3 } }));
    client.send(Buffer.concat(Array.from({ length: 10 }, (_, id) => framed('slow', id))));
    for (const owed of [3, 3, 3, 1]) {
      await waitUntil('more to be asked', () => held.count >= owed);
      expect(held.count).toBe(owed);
      const given = client.messages.length;
      held.release();
      await client.waitForMessages(given + owed);
    }
    expect(readIds(client.messages)).toEqual(Array.from({ length: 10 }, (_, id) => id));
  });

  it('reads no more while the client takes no answers', async () => {
    const longName = `${'x'.repeat(60)}.`.repeat(4);
    const listener = await startTcp({ limits: { queries: 1_000_000 } });
    const client = connectTo(listener);
    client.socket.pause();
    // More than the kernel's buffers of both sides hold: 40 MB.
    const flood = Buffer.concat(Array.from({ length: 1000 }, (_, id) => framed(longName, id)));
    const rounds = 150;
    for (let round = 0; round < rounds; round++) client.send(flood);
    let seen = 0;
    let since = performance.now();
    await waitUntil('reading to stop', () => {
      const { queries } = listener.count();
      if (queries !== seen) since = performance.now();
      seen = queries;
      return queries > 0 && performance.now() - since > 300;
    });
    expect(client.socket.writableLength).toBeGreaterThan(0);
    expect(listener.count().queries).toBeLessThan(rounds * 1000);
    client.socket.resume();
    await client.waitForMessages(rounds * 1000);
    const ids = readIds(client.messages);
    expect(ids.every((id, index) => id === index % 1000)).toBe(true);
  });

  it.each([
    ['an empty message', frame(new Uint8Array(0))],
    ['a message shorter than a header', frame(new Uint8Array(11))],
    ['a response', frame(answerAuthoritatively(queryFor('fast', 9)))],
  ])('ends at %s, after its answers', async (_, garbage) => {
    const listener = await startTcp();
    const client = connectTo(listener);
    client.send(Buffer.concat([framed('fast', 1), garbage, framed('fast', 2)]));
    await waitUntil('the end', () => client.isEnded);
    client.socket.end();
    await waitUntil('the close', () => listener.count().open === 0);
    expect(readIds(client.messages)).toEqual([1]);
    expect(listener.count().ended.garbage).toBe(1);
  });

  it('survives any octets at all', async () => {
    const listener = await startTcp({ limits: { endingMilliseconds: 50 } });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), async (pieces) => {
        const client = connectTo(listener);
        for (const piece of pieces) client.send(piece);
        client.socket.end();
        await waitUntil('the close', () => client.isClosed);
      }),
      { numRuns: 200 },
    );
    await waitUntil('all to be gone', () => listener.count().open === 0);
    const client = connectTo(listener);
    client.send(framed('fast', 1));
    await client.waitForMessages(1);
  });

  it('ends after its last query, and the client may ask on another', async () => {
    const listener = await startTcp({ limits: { queries: 3 } });
    const client = connectTo(listener);
    client.send(Buffer.concat(Array.from({ length: 5 }, (_, id) => framed('slow', id))));
    await waitUntil('the end', () => client.isEnded);
    expect(readIds(client.messages)).toEqual([0, 1, 2]);
    client.socket.end();
    await waitUntil('the close', () => listener.count().open === 0);
    expect(listener.count().ended.queries).toBe(1);
  });
});

describe('time', () => {
  const limits = { idleMilliseconds: 1000, ageMilliseconds: 10_000, endingMilliseconds: 500 };

  it('ends a connection without a query, however many octets trickle in', async () => {
    const clock = new ManualClock();
    const listener = await startTcp({ clock, limits });
    const client = connectTo(listener);
    await waitUntil('the connection', () => listener.count().open === 1);
    const query = framed('fast', 1);
    for (let octet = 0; octet < 9; octet++) {
      client.send(query.subarray(octet, octet + 1));
      clock.advance(100);
    }
    clock.advance(99);
    expect(client.isEnded).toBe(false);
    clock.advance(1);
    await waitUntil('the end', () => client.isEnded);
    expect(listener.count().open).toBe(1);
    // A client that never closes its own side is cut off.
    clock.advance(500);
    await waitUntil('the close', () => listener.count().open === 0);
    expect(listener.count().ended.idle).toBe(1);
  });

  it('counts from the last query, and not while an answer is owed', async () => {
    const clock = new ManualClock();
    const held = new HeldAnswers();
    const listener = await startTcp({ clock, limits, handleQuery: held.handleQuery });
    const client = connectTo(listener);
    for (let id = 1; id <= 3; id++) {
      client.send(framed('fast', id));
      await client.waitForMessages(id);
      clock.advance(900);
    }
    client.send(framed('slow', 4));
    await waitUntil('the slow question', () => held.count === 1);
    clock.advance(5000);
    held.release();
    await client.waitForMessages(4);
    clock.advance(999);
    expect(client.isEnded).toBe(false);
    clock.advance(1);
    await waitUntil('the end', () => client.isEnded);
  });

  it('bounds the time until the first query, where that has a bound of its own', async () => {
    const clock = new ManualClock();
    const listener = await startTcp({ clock, limits: { ...limits, readMilliseconds: 300 } });
    const silent = connectTo(listener);
    const asking = connectTo(listener);
    await waitUntil('the connections', () => listener.count().open === 2);
    clock.advance(200);
    asking.send(framed('fast', 1));
    await asking.waitForMessages(1);
    clock.advance(100);
    await waitUntil('the end of the silent one', () => silent.isEnded);
    clock.advance(899);
    expect(asking.isEnded).toBe(false);
    clock.advance(1);
    await waitUntil('the end of the other one', () => asking.isEnded);
  });

  it('bounds how long answers are left untaken, where that has a bound of its own', async () => {
    const clock = new ManualClock();
    const response = Buffer.concat([answerAuthoritatively(queryFor('slow', 1)), Buffer.alloc(60_000)]);
    const long = { idleMilliseconds: 1e12, ageMilliseconds: 1e12 };
    const listener = await startTcp({
      clock,
      handleQuery: async () => response,
      limits: { ...limits, ...long, writeMilliseconds: 300 },
    });
    const client = connectTo(listener);
    client.socket.pause();
    // More than the kernel's buffers of both sides hold: 30 MB.
    client.send(Buffer.concat(Array.from({ length: 500 }, (_, id) => framed('slow', id))));
    await waitUntil('the connection', () => listener.count().accepted === 1);
    await waitUntil('the close', () => listener.count().open === 0, { step: () => clock.advance(10) });
    expect(listener.count().ended.error).toBe(1);
  });

  it('ends a connection of great age, but not the answers that it owes', async () => {
    const clock = new ManualClock();
    const held = new HeldAnswers();
    const listener = await startTcp({ clock, limits, handleQuery: held.handleQuery });
    const client = connectTo(listener);
    for (let id = 1; id <= 11; id++) {
      client.send(framed('fast', id));
      await client.waitForMessages(id);
      clock.advance(900);
    }
    client.send(framed('slow', 12));
    await waitUntil('the slow question', () => held.count === 1);
    clock.advance(100);
    expect(client.isEnded).toBe(false);
    held.release();
    expect(readIds(await client.waitForMessages(12)).at(-1)).toBe(12);
    await waitUntil('the end', () => client.isEnded);
    client.socket.end();
    await waitUntil('the close', () => listener.count().open === 0);
    expect(listener.count().ended.age).toBe(1);
  });
});

describe('connections', () => {
  it('of one client are limited, and of all clients: the longest idle one gives way', async () => {
    const listener = await startTcp({ limits: { connections: 3, connectionsPerClient: 2 } });
    const first = connectTo(listener);
    await waitUntil('the first connection', () => listener.count().accepted === 1);
    const second = connectTo(listener);
    await waitUntil('the second connection', () => listener.count().accepted === 2);
    const third = connectTo(listener);
    await waitUntil('the first to be closed', () => first.isEnded);
    const other = connectTo(listener, '127.0.0.7');
    await waitUntil('another client', () => listener.count().open === 3);
    const last = connectTo(listener, '127.0.0.8');
    await waitUntil('the second to be closed', () => second.isEnded);
    expect(listener.count()).toMatchObject({ open: 3, accepted: 5, rejected: 0, ended: { evicted: 2 } });
    for (const client of [third, other, last]) {
      client.send(framed('fast', 1));
      await client.waitForMessages(1);
    }
  });

  it('that owe answers keep their places', async () => {
    const held = new HeldAnswers();
    const limits = { connections: 2, connectionsPerClient: 2 };
    const listener = await startTcp({ limits, handleQuery: held.handleQuery });
    const one = connectTo(listener);
    const other = connectTo(listener, '127.0.0.7');
    for (const client of [one, other]) client.send(framed('slow', 1));
    await waitUntil('both questions', () => held.count === 2);
    const late = connectTo(listener, '127.0.0.8');
    await waitUntil('the late one to be closed', () => late.isEnded);
    expect(listener.count()).toMatchObject({ open: 2, accepted: 2, rejected: 1 });
    held.release();
    for (const client of [one, other]) await client.waitForMessages(1);
  });

  it('are refused to a second process, unless it asks to join', async () => {
    const listener = await startTcp();
    const addresses = listener.endpoints;
    const refusal = await startTcp({ addresses }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PortInUseError);
    expect(String(refusal)).toContain(`port in use: 127.0.0.1:${addresses[0]?.port} (tcp)`);
    await startTcp({ addresses, takeover: true });
    await expect(startTcp({ addresses, native: false })).rejects.toThrow(PortInUseError);
  });
});

describe('a listener that stops', () => {
  it('accepts no more, gives the answers it owes, and lets a new connection ask once', async () => {
    const held = new HeldAnswers();
    const listener = await startTcp({ handleQuery: held.handleQuery });
    const busy = connectTo(listener);
    const idle = connectTo(listener);
    const fresh = connectTo(listener);
    busy.send(framed('slow', 1));
    idle.send(framed('fast', 2));
    await idle.waitForMessages(1);
    await waitUntil('the slow question', () => held.count === 1 && listener.count().open === 3);
    const stopped = listener.stop(60_000);
    await waitUntil('the idle one to end', () => idle.isEnded);
    const late = connectTo(listener);
    await waitUntil('the late one to be refused', () => late.isClosed);
    expect([busy.isEnded, fresh.isEnded]).toEqual([false, false]);
    held.release();
    fresh.send(Buffer.concat([framed('fast', 3), framed('fast', 4)]));
    await waitUntil('both to end', () => busy.isEnded && fresh.isEnded);
    expect([readIds(busy.messages), readIds(fresh.messages)]).toEqual([[1], [3]]);
    for (const client of [busy, idle, fresh]) client.socket.end();
    await stopped;
    expect(listener.count()).toMatchObject({ open: 0, accepted: 3, unaccepted: 0 });
  });

  it('cuts what has not ended in time', async () => {
    const clock = new ManualClock();
    const held = new HeldAnswers();
    const listener = await startTcp({ clock, handleQuery: held.handleQuery });
    const client = connectTo(listener);
    client.send(framed('slow', 1));
    await waitUntil('the slow question', () => held.count === 1);
    const stopped = listener.stop(1000);
    clock.advance(1000);
    await stopped;
    await waitUntil('the cut', () => client.isEnded);
    held.release();
    expect(client.messages).toEqual([]);
  });

  it('answers those whose connections were not accepted yet', async () => {
    const listener = await startTcp();
    const clients = Array.from({ length: 20 }, () => connectTo(listener));
    for (const [id, client] of clients.entries()) client.socket.end(framed('fast', id));
    await waitUntil('the connections', () => clients.every(({ socket }) => !socket.connecting));
    await listener.stop(5000);
    for (const client of clients) await client.waitForMessages(1);
    expect(listener.count()).toMatchObject({ accepted: 20, unaccepted: 0 });
  });
});
