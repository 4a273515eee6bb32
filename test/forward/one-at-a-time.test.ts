/**
 * Servers that take less on a connection than RFC 7766 asks for: one query, some queries, one at a time, few connections.
 * No query fails or waits for a time-out, over TCP and TLS.
 */
import { readFileSync } from 'node:fs';
import { frame } from '@portolan/dns/frames.ts';
import { DEFAULT_FORWARD_PLAN } from '@portolan/kernel/forward/forward-plan.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readTlsFixture, tlsFixturePath } from '../api-server/tls-fixture.ts';
import { ask, forwarderTo, listAddresses } from './forwarder-on-loopback.ts';

type Connection = NonNullable<ReceivedQuery['connection']>;

/** Milliseconds that the servers work on a query. */
const WORK = 5;
/** Names asked for at once. */
const NAMES = 20;
const ROUNDS = 3;

/** Calls `then` for each query on a connection, with its number there, from 1. */
function numbered(then: (received: ReceivedQuery, connection: Connection, number: number) => void): React {
  const numbers = new WeakMap<object, number>();
  return (received) => {
    const { connection } = received;
    if (connection === undefined || connection.destroyed) return;
    const number = (numbers.get(connection) ?? 0) + 1;
    numbers.set(connection, number);
    then(received, connection, number);
  };
}

const later = (run: () => void) => void setTimeout(run, WORK);
const answer = ({ query, send }: ReceivedQuery) => send(reply(query));

/** Replies to the last query of a connection, and what it closes with. */
function closesAfter(last: number, close: (connection: Connection) => void): React {
  return numbered((received, connection, number) => {
    if (number > last) return;
    later(() => {
      answer(received);
      if (number === last) close(connection);
    });
  });
}

/** TLS has no sockets that can be reset. */
function reset(connection: Connection): void {
  if ('encrypted' in connection) connection.destroy();
  else connection.resetAndDestroy();
}

const SERVERS: Readonly<Record<string, () => React>> = {
  'closes after one reply': () => closesAfter(1, (connection) => connection.end()),
  'resets after one reply': () => closesAfter(1, reset),
  'closes after eight replies': () => closesAfter(8, (connection) => connection.end()),
  'closes before the third reply': () =>
    numbered((received, connection, number) => {
      if (number === 3) connection.destroy();
      else if (number < 3) later(() => answer(received));
    }),
  'throws away what comes before its reply': () => {
    const busy = new WeakSet<object>();
    return numbered((received, connection) => {
      if (busy.has(connection)) return;
      busy.add(connection);
      later(() => {
        busy.delete(connection);
        answer(received);
      });
    });
  },
  'ends in the middle of its second reply': () =>
    numbered((received, connection, number) => {
      if (number === 1) later(() => answer(received));
      if (number === 2) later(() => connection.end(frame(reply(received.query)).subarray(0, 20)));
    }),
  'ends behind the first octet of a length': () =>
    numbered((received, connection, number) => {
      if (number !== 1) return;
      later(() => {
        answer(received);
        connection.end(Uint8Array.of(0));
      });
    }),
};

const TLS = {
  scheme: 'tls://',
  name: '#localhost',
  server: readTlsFixture('server'),
  plan: { tls: { certificates: { authorities: [readFileSync(tlsFixturePath('authority.crt'), 'utf8')] } } },
};
const TCP = { scheme: 'tcp://', name: '', server: undefined, plan: {} };

async function start(react: React, { scheme, name, server, plan }: typeof TCP | typeof TLS = TCP) {
  const upstream = await LoopbackUpstream.start(react, { tls: server });
  // No reply is late on a loaded machine, but one that does not come is.
  const patient = { minTimeout: 20_000, maxTimeout: 20_000, firstTimeout: 20_000, deadline: 60_000 };
  const timing = { ...DEFAULT_FORWARD_PLAN.timing, ...patient };
  const forwarder = forwarderTo([`${scheme}${upstream.address}${name}`], { timing, ...plan });
  onTestFinished(() => upstream.stop());
  onTestFinished(() => forwarder.stop());
  const askRound = async (round: number) => {
    const names = Array.from({ length: NAMES }, (_, index) => `n${index}.r${round}.example.`);
    const replies = await Promise.all(names.map((each) => ask(forwarder, each)));
    expect(replies.flatMap(listAddresses)).toEqual(names.map(() => '192.0.2.1'));
  };
  return { upstream, forwarder, askRound };
}

describe.each([
  ['TCP', TCP],
  ['TLS', TLS],
])('over %s, each of many queries at once is answered by a server that', (_, transport) => {
  it.each(Object.entries(SERVERS))('%s', async (_name, makeServer) => {
    const { forwarder, askRound } = await start(makeServer(), transport);
    for (let round = 0; round < ROUNDS; round += 1) await askRound(round);
    expect(forwarder.statistics().upstreams[0]).toMatchObject({ timeouts: 0, networkErrors: 0 });
  });
});

it('keeps to the connections that a server accepts', async () => {
  let open = 0;
  const upstreamAnswer: React = (received) => later(() => answer(received));
  const { upstream, forwarder, askRound } = await start(upstreamAnswer);
  const serve = upstream.serve.bind(upstream);
  upstream.serve = (socket) => {
    if (open >= 5) {
      socket.resetAndDestroy();
      return;
    }
    open += 1;
    socket.on('close', () => {
      open -= 1;
    });
    serve(socket);
  };
  // One works when the others are refused.
  expect(listAddresses(await ask(forwarder, 'first.example.'))).toEqual(['192.0.2.1']);
  for (let round = 0; round < ROUNDS; round += 1) await askRound(round);
  expect(forwarder.statistics().upstreams[0]).toMatchObject({ timeouts: 0, networkErrors: 0 });
});

it('has 64 connections at most, and one for copies, and the other queries wait', async () => {
  let open = 0;
  let most = 0;
  const { upstream, forwarder } = await start(closesAfter(1, (connection) => connection.end()));
  const serve = upstream.serve.bind(upstream);
  upstream.serve = (socket) => {
    open += 1;
    most = Math.max(most, open);
    socket.on('close', () => {
      open -= 1;
    });
    serve(socket);
  };
  const names = Array.from({ length: 300 }, (_, index) => `n${index}.example.`);
  const replies = await Promise.all(names.map((name) => ask(forwarder, name)));
  expect(replies.flatMap(listAddresses)).toEqual(names.map(() => '192.0.2.1'));
  // Those that the server has not yet seen closed.
  expect(most).toBeLessThanOrEqual(2 * 64 + 1);
  expect(forwarder.statistics().upstreams[0]).toMatchObject({ timeouts: 0, networkErrors: 0 });
});

it('has one query at a time on each connection of a server that answers slowly, one after the other', async () => {
  const last = new WeakMap<object, number>();
  const { upstream, askRound } = await start((received) => {
    const { connection } = received;
    if (connection === undefined) return;
    const at = Math.max(performance.now(), last.get(connection) ?? 0) + 4 * WORK;
    last.set(connection, at);
    setTimeout(() => answer(received), at - performance.now());
  });
  for (let round = 0; round < ROUNDS; round += 1) await askRound(round);
  // And a connection for the copies that have shown it.
  expect(upstream.connections).toBeGreaterThan(NAMES);
});

it('has many queries on few connections of a server that takes them', async () => {
  const { upstream, askRound } = await start(answer);
  const ports = () => new Set(upstream.queries.slice(-NAMES).map(({ port }) => port));
  // A loaded machine may look like a slow server for a while.
  for (let round = 0; round === 0 || ports().size > 4; round += 1) await askRound(round);
  expect(ports().size).toBeGreaterThan(0);
});

it('asks again only a few times where each connection is closed', async () => {
  const { upstream, forwarder } = await start(({ connection }) => connection?.end());
  const asked = ask(forwarder, 'one.example.');
  const timing = { ...DEFAULT_FORWARD_PLAN.timing, deadline: 1000 };
  const short = forwarderTo([`tcp://${upstream.address}`], { timing });
  onTestFinished(() => short.stop());
  expect(listAddresses(await ask(short, 'two.example.'))).toEqual(['network']);
  expect(upstream.connections).toBeLessThan(100);
  forwarder.stop();
  expect(listAddresses(await asked)).toEqual(['stopped']);
});

it('learns no bound from connections that it closes itself, for what the server sends', async () => {
  const LAST = 4;
  const { upstream, forwarder, askRound } = await start(answer);
  const ports = () => new Set(upstream.queries.slice(-NAMES).map(({ port }) => port)).size;
  // Until the server is known to take many queries on a connection.
  for (let round = 0; round === 0 || ports() > 4; round += 1) await askRound(round);
  upstream.react = numbered((received, connection, number) => {
    if (number <= LAST) answer(received);
    if (number === LAST) for (let each = 0; each < 200; each += 1) connection.write(frame(new Uint8Array()));
  });
  upstream.cut();
  for (let round = 100; round < 103; round += 1) await askRound(round);
  upstream.react = answer;
  await askRound(200);
  const before = upstream.connections;
  for (let query = 0; query < 5 * LAST; query += 1) await ask(forwarder, `alone${query}.example.`);
  // With a bound of four there are five.
  expect(upstream.connections - before).toBeLessThan(4);
});
