import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { batchesAvailable } from '../../socket/libc.ts';
import { QuestionReader } from '../../table/question.ts';
import { SocketTable } from './socket-table.ts';
import { UpstreamStreams } from './upstream-streams.ts';

const SERVER = 7;
const TERMS = {
  idle: 10_000,
  maxAge: 0,
  minConnections: 1,
  maxConnections: 4,
  depth: 64,
  maxQueries: Number.POSITIVE_INFINITY,
};

async function listen(): Promise<Server> {
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  return server;
}

function streamsTo(server: Server, terms = TERMS) {
  const { address, port } = server.address() as AddressInfo;
  const table = new SocketTable({ opened: () => true, closed() {} }, 64);
  const streams = new UpstreamStreams(table, () => {});
  onTestFinished(() => table.closeAll());
  streams.follow([{ number: SERVER, peer: { address, port }, stream: terms, usesEdns: true }]);
  /** Waits until the connection is open. */
  const pick = async (now: number) => {
    for (;;) {
      const socket = streams.pick(SERVER, now);
      if (socket >= 0) return socket;
      await setImmediate();
    }
  };
  return { table, streams, pick };
}

it.runIf(batchesAvailable() === true)('has at most 64 queries on each of 4 connections', async () => {
  const server = await listen();
  const { table, streams, pick } = streamsTo(server);
  const load = new Map<number, number>();
  for (let query = 0; query < 4 * 64; query += 1) {
    const socket = await pick(0);
    load.set(socket, (load.get(socket) ?? 0) + 1);
  }
  expect([...load.values()]).toEqual([64, 64, 64, 64]);
  expect(streams.pick(SERVER, 0)).toBe(-1);
  expect(table.open).toBe(4);
});

const FORM = { udpSize: 0, trustsAd: false };

it.runIf(batchesAvailable() === true)('sends the queries of a batch on one connection', async () => {
  const server = await listen();
  const { streams, pick } = streamsTo(server);
  // Each has so many that the next query opens another one.
  const sockets = new Set<number>();
  while (sockets.size < 2) sockets.add(await pick(0));
  const batch = () => {
    const used = new Set<number>();
    for (let query = 0; query < 16; query += 1) {
      const socket = streams.pick(SERVER, 0);
      streams.add(socket, query, new QuestionReader(), FORM, 0);
      used.add(socket);
    }
    streams.flush();
    return [...used];
  };
  const first = batch();
  const second = batch();
  expect([first.length, second.length]).toEqual([1, 1]);
  expect(second).not.toEqual(first);
});

it.runIf(batchesAvailable() === true)(
  'acknowledges replies by the next queries, or before the thread waits',
  async () => {
    const server = await listen();
    const peers: Socket[] = [];
    server.on('connection', (peer) => peers.push(peer));
    const { streams, pick } = streamsTo(server);
    const socket = await pick(0);
    const stream = streams.find(socket);
    if (stream === undefined) throw new TypeError('no connection');
    while (peers.length === 0) await setImmediate();
    const hear = async () => {
      peers[0]?.write('x');
      while (!stream.owesAcknowledgement) {
        expect(streams.receive(socket, stream, 0)).toBe(0);
        await setImmediate();
      }
    };
    await hear();
    streams.add(socket, 1, new QuestionReader(), FORM, 0);
    streams.flush();
    expect(stream.owesAcknowledgement).toBe(false);
    await hear();
    streams.rest();
    expect(stream.owesAcknowledgement).toBe(false);
  },
);

it.runIf(batchesAvailable() === true)(
  'sends no query on the connection of another server that got the number of a closed one',
  async () => {
    const one = await listen();
    const other = await listen();
    const table = new SocketTable({ opened: () => true, closed() {} }, 64);
    const streams = new UpstreamStreams(table, () => {});
    onTestFinished(() => table.closeAll());
    const serverAt = (number: number, server: Server) => {
      const { address, port } = server.address() as AddressInfo;
      return { number, peer: { address, port }, stream: TERMS, usesEdns: true };
    };
    streams.follow([serverAt(1, one), serverAt(2, other)]);
    const pick = async (server: number, now: number) => {
      for (;;) {
        const socket = streams.pick(server, now);
        if (socket >= 0) return socket;
        await setImmediate();
      }
    };
    const closed = await pick(1, 0);
    streams.release(closed);
    streams.sweep(10_001);
    const taken = await pick(2, 10_001);
    expect(taken).toBe(closed);
    streams.add(taken, 1, new QuestionReader(), FORM, 0);
    expect(streams.pick(1, 10_001)).toBe(-1);
    expect(await pick(1, 10_001)).not.toBe(taken);
  },
);

it.runIf(batchesAvailable() === true)('keeps a quiet connection for its time', async () => {
  const server = await listen();
  const { table, streams, pick } = streamsTo(server);
  streams.release(await pick(0));
  streams.sweep(10_000);
  expect(table.open).toBe(1);
  streams.sweep(10_001);
  expect(table.open).toBe(0);
});

it.runIf(batchesAvailable() === true)('gives an old connection no more queries', async () => {
  const server = await listen();
  const { streams, pick } = streamsTo(server, { ...TERMS, maxAge: 100 });
  const first = await pick(0);
  expect(await pick(101)).not.toBe(first);
  expect(streams.find(first)?.isLeaving).toBe(true);
  streams.release(first);
  expect(streams.find(first)).toBe(undefined);
});

it.runIf(batchesAvailable() === true)(
  'leaves a connection that is silent where a query is overdue',
  async () => {
    const server = await listen();
    const { streams, pick } = streamsTo(server);
    const first = await pick(5);
    streams.overdue(first, 5);
    expect(await pick(6)).not.toBe(first);
  },
);

it.runIf(batchesAvailable() === true)('opens a connection to a closed port once a second', async () => {
  const server = await listen();
  const { table, streams } = streamsTo(server);
  server.close();
  await once(server, 'close');
  const opened = () => {
    const before = table.open;
    expect(streams.pick(SERVER, now)).toBe(-1);
    return table.open - before;
  };
  let now = 0;
  expect(opened()).toBe(1);
  while (table.open > 0) {
    expect(streams.pick(SERVER, now)).toBe(-1);
    await setImmediate();
  }
  now = 999;
  expect(opened()).toBe(0);
  now = 1000;
  expect(opened()).toBe(1);
});

it.runIf(batchesAvailable() === true)(
  'opens the next connection before the bound of one is reached, so that queries find it open',
  async () => {
    const MAX_QUERIES = 8;
    const server = await listen();
    let accepted = 0;
    server.on('connection', () => {
      accepted += 1;
    });
    const { table, streams, pick } = streamsTo(server, { ...TERMS, maxQueries: MAX_QUERIES });
    streams.release(await pick(0));
    for (let query = 1; query < 4; query += 1) streams.release(streams.pick(SERVER, 0));
    expect(table.open).toBe(1);
    streams.release(streams.pick(SERVER, 0));
    expect(table.open).toBe(2);
    while (accepted < 2) await setImmediate();
    const sockets = new Set<number>();
    for (let query = 5; query < MAX_QUERIES + 4; query += 1) {
      const socket = streams.pick(SERVER, 0);
      sockets.add(socket);
      streams.release(socket);
    }
    expect(sockets).not.toContain(-1);
    expect(sockets.size).toBe(2);
  },
);

it.runIf(batchesAvailable() === true)(
  'learns the bound from two connections that the server ends',
  async () => {
    const server = await listen();
    const { table, streams, pick } = streamsTo(server);
    const endAfter = async (queries: number, now: number) => {
      const first = await pick(now);
      const stream = streams.find(first);
      if (stream === undefined) throw new TypeError('no connection');
      for (let query = 1; query < queries; query += 1) expect(streams.pick(SERVER, now)).toBe(first);
      for (let query = 0; query < queries; query += 1) streams.release(first);
      stream.heardAt = now;
      streams.noteEnd(first, now);
      streams.close(first);
    };
    await endAfter(3, 0);
    await endAfter(3, 0);
    expect(table.open).toBe(0);
    const load = new Map<number, number>();
    for (let query = 0; query < 6; query += 1) {
      const socket = await pick(0);
      load.set(socket, (load.get(socket) ?? 0) + 1);
    }
    expect(Math.max(...load.values())).toBeLessThanOrEqual(3);
  },
);

it.runIf(batchesAvailable() === true)(
  'learns no bound from connections that were closed when idle',
  async () => {
    const server = await listen();
    const { streams, pick } = streamsTo(server);
    for (let round = 0; round < 2; round += 1) {
      const idle = await pick(0);
      streams.release(idle);
      const stream = streams.find(idle);
      if (stream !== undefined) stream.heardAt = 0;
      streams.noteEnd(idle, 101);
      streams.close(idle);
    }
    const first = await pick(101);
    expect(streams.pick(SERVER, 101)).toBe(first);
  },
);
