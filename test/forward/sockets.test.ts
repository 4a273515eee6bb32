/**
 * Upstream servers over real sockets: dead and lossy servers, source ports and addresses, changes during queries.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { DEFAULT_FORWARD_PLAN, type ForwardPlan } from '@portolan/kernel/forward/forward-plan.ts';
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import {
  openDatagramSocket,
  openQuerySocket,
  type QuerySocket,
  type QuerySocketOptions,
} from '@portolan/kernel/socket/query-socket.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, forwarderTo, listAddresses, planFor } from './forwarder-on-loopback.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const answer: React = ({ query, send }) => send(reply(query));

async function start(react: React = answer): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(react);
  cleanups.push(() => upstream.stop());
  return upstream;
}

function forward(servers: readonly string[], changes: Partial<ForwardPlan> = {}): Forwarder {
  const forwarder = forwarderTo(servers, changes);
  cleanups.push(() => forwarder.stop());
  return forwarder;
}

/** The address of a closed port. */
async function closedPort(): Promise<string> {
  const upstream = await LoopbackUpstream.start(answer);
  const { address } = upstream;
  await upstream.stop();
  return address;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.example.`);
const answered = async (forwarder: Forwarder, count: number) => {
  const replies = await Promise.all(names(count).map((name) => ask(forwarder, name)));
  return replies.filter((each) => listAddresses(each)[0] === '192.0.2.1').length;
};

describe('over real sockets', () => {
  it('one server that is closed costs nothing but a moment', async () => {
    const good = await start();
    const forwarder = forward([await closedPort(), good.address]);
    expect(await answered(forwarder, 200)).toBe(200);
    const [dead] = forwarder.statistics().upstreams;
    expect(['failing', 'silent', 'down']).toContain(dead?.state.kind);
    expect(dead?.networkErrors).toBeGreaterThan(0);
  });

  it('one server that is silent costs no answer', async () => {
    const silent = await start(() => {});
    const good = await start();
    const forwarder = forward([silent.address, good.address]);
    expect(await answered(forwarder, 100)).toBe(100);
    const before = silent.queries.length;
    expect(await answered(forwarder, 100)).toBe(100);
    expect(silent.queries.length - before).toBeLessThan(20);
  });

  it('two closed servers are asked again until the deadline, and the network is the reason', async () => {
    // Refused servers are asked every 200 ms: end between two rounds, when no query waits for its refusal.
    const timing = { ...DEFAULT_FORWARD_PLAN.timing, deadline: 1100 };
    const forwarder = forward([await closedPort(), await closedPort()], { timing });
    const reply = await ask(forwarder, 'www.example.');
    expect(listAddresses(reply)).toEqual(['network']);
    // Each server once, however often it was asked.
    expect(reply.kind === 'failed' && reply.detail.split('; ')).toHaveLength(2);
    for (const { sent } of forwarder.statistics().upstreams) expect(sent).toBeGreaterThan(1);
  });

  it('a server that restarts is found by the question that it refused', async () => {
    const upstream = await LoopbackUpstream.start(answer);
    const { address, port } = upstream;
    await upstream.stop();
    const reply = ask(forward([address]), 'www.example.');
    const restarted = await LoopbackUpstream.start(answer, { port });
    cleanups.push(() => restarted.stop());
    expect(listAddresses(await reply)).toEqual(['192.0.2.1']);
  });

  it('a third of all packets lost loses no answer', async () => {
    const queries = new Map<string, number>();
    const lossy: React = (received) => {
      const name = received.query.questions[0]?.name ?? '';
      const before = queries.get(name) ?? 0;
      queries.set(name, before + 1);
      // Of three names the first loses no query, the second one, the third two.
      if (before >= Number.parseInt(name.slice(1), 10) % 3) answer(received);
    };
    const forwarder = forward([(await start(lossy)).address, (await start(lossy)).address]);
    expect(await answered(forwarder, 200)).toBe(200);
  });

  it('a server that comes back is found by itself', async () => {
    const upstream = await start(() => {});
    const good = await start();
    const forwarder = forward([upstream.address, good.address]);
    await answered(forwarder, 20);
    const state = () => forwarder.statistics().upstreams[0]?.state.kind;
    await waitUntil('the silent server is down', () => state() === 'down');
    upstream.react = answer;
    await waitUntil('a probe finds it', () => state() !== 'down');
    // A probe from before its return may be overdue only now.
    expect(['well', 'failing']).toContain(state());
  });
});

describe('where queries come from', () => {
  it('a range of ports is kept to', async () => {
    const upstream = await start();
    const forwarder = forward([upstream.address], {
      sourcePorts: { kind: 'range', min: 42_000, max: 42_400 },
    });
    for (const name of names(100)) await ask(forwarder, name);
    const ports = new Set(upstream.queries.map(({ port }) => port));
    expect([...ports].every((port) => port >= 42_000 && port <= 42_400)).toBe(true);
    expect(ports.size).toBeGreaterThan(5);
  });

  it('one fixed port serves several servers', async () => {
    const one = await start();
    const two = await start();
    const port = Number((await closedPort()).split(':')[1]);
    const forwarder = forward([one.address, two.address], {
      sourcePorts: { kind: 'fixed', port },
      policy: 'all',
    });
    expect(await answered(forwarder, 50)).toBe(50);
    await waitUntil('both have heard all', () => one.queries.length + two.queries.length === 100);
    expect(new Set([...one.queries, ...two.queries].map((query) => query.port))).toEqual(new Set([port]));
  });

  it('an address, a port or an interface may be given for each server', async () => {
    const upstream = await start();
    const port = Number((await closedPort()).split(':')[1]);
    const from: (readonly [string, number | undefined])[] = [];
    for (const source of ['@127.0.0.9', `@127.0.0.8#${port}`, '@lo']) {
      let address = '';
      upstream.udp.once('message', (_, sender) => {
        address = sender.address;
        from.push([address, sender.port === port ? port : undefined]);
      });
      await ask(forward([`${upstream.address}${source}`]), 'www.example.');
    }
    expect(from).toEqual([
      ['127.0.0.9', undefined],
      ['127.0.0.8', port],
      ['127.0.0.1', undefined],
    ]);
  });

  it('an address that is not ours is an error of the network, and says so', async () => {
    const upstream = await start();
    const result = await ask(forward([`${upstream.address}@192.0.2.77`]), 'www.example.');
    expect(result).toMatchObject({ kind: 'failed', reason: 'network' });
    expect(result.kind === 'failed' && result.detail).toContain('EADDRNOTAVAIL');
  });
});

describe('a change of the plan', () => {
  it('loses nothing that is under way, and closes what is not needed any more', async () => {
    const held: ReceivedQuery[] = [];
    const old = await start((received) => void held.push(received));
    const next = await start();
    const forwarder = forward([old.address], { hedging: false });
    const under = ask(forwarder, 'www.example.');
    await waitUntil('the query is there', () => held.length > 0);
    forwarder.change(planFor([next.address]));
    expect(listAddresses(await ask(forwarder, 'new.example.'))).toEqual(['192.0.2.1']);
    for (const received of held) answer(received);
    expect(listAddresses(await under)).toEqual(['192.0.2.1']);
    expect(next.queries.length).toBe(1);
    expect(forwarder.statistics().upstreams.map(({ upstream }) => upstream)).toEqual([next.address]);
  });

  it('and the end of all fail what is under way at once', async () => {
    const silent = await start(() => {});
    const forwarder = forward([silent.address]);
    const under = ask(forwarder, 'www.example.');
    forwarder.stop();
    expect(listAddresses(await under)).toEqual(['stopped']);
    expect(listAddresses(await ask(forwarder, 'two.example.'))).toEqual(['stopped']);
  });
});

it('an error of the network is about the packet that it came back for, and no other of its socket', async () => {
  const silent = await LoopbackUpstream.start(() => {});
  const { address, port } = silent;
  const errors: (readonly [string, number | undefined])[] = [];
  const socket = openQuerySocket({
    peer: { address: '127.0.0.1', port },
    source: undefined,
    shared: false,
    replyOctets: 512,
    onPacket: () => {},
    onError: (code, id) => errors.push([code, id]),
  });
  cleanups.push(() => socket.close());
  const packet = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  socket.send(packet, 1);
  await waitUntil('the first is received', () => silent.queries.length === 1);
  await silent.stop();
  for (const id of [2, 3]) socket.send(packet, id);
  await waitUntil('the others are refused', () => errors.length === 2);
  expect(errors, address).toEqual([
    ['ECONNREFUSED', 2],
    ['ECONNREFUSED', 3],
  ]);
});

it('a query socket by node:dgram tells of a server that it cannot connect to', async () => {
  const errors: string[] = [];
  const socket = openDatagramSocket({
    // Only sockets for broadcasts may.
    peer: { address: '255.255.255.255', port: 53 },
    source: undefined,
    shared: false,
    replyOctets: 512,
    onPacket: () => {},
    onError: (code) => errors.push(code),
  });
  socket.send(Uint8Array.of(0, 1));
  await waitUntil('the error is told', () => errors.length === 1);
  socket.send(Uint8Array.of(0, 2));
  expect(errors).toEqual(['EACCES', 'EACCES']);
  socket.close();
  socket.send(Uint8Array.of(0, 3));
  expect(errors).toHaveLength(2);
});

describe.each([
  ['by batches', openQuerySocket],
  ['by node:dgram', openDatagramSocket],
])('a query socket %s', (_, open: (options: QuerySocketOptions) => QuerySocket) => {
  async function opened(peer: string, changes: Partial<QuerySocketOptions> = {}) {
    const packets: { readonly octets: number[]; readonly isCut: boolean }[] = [];
    const errors: string[] = [];
    const [address = '', port] = peer.split(':');
    const socket = open({
      peer: { address, port: Number(port) },
      source: undefined,
      shared: false,
      replyOctets: 512,
      onPacket: (octets, start, length, isCut) =>
        packets.push({ octets: [...octets.subarray(start, start + length)], isCut }),
      onError: (code) => errors.push(code),
      ...changes,
    });
    cleanups.push(() => socket.close());
    return { socket, packets, errors };
  }

  const header = (id: number) => Uint8Array.of(id >> 8, id & 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  it('sends all that is given in one turn, and gives out all that comes', async () => {
    const upstream = await start(({ query, send }) => send(header(query.header.id)));
    const { socket, packets } = await opened(upstream.address);
    for (let id = 0; id < 100; id += 1) socket.send(header(id));
    await waitUntil('all have come back', () => packets.length === 100);
    expect(new Set(packets.map(({ octets: [high = 0, low = 0] }) => (high << 8) | low)).size).toBe(100);
    expect(packets.every(({ octets, isCut }) => octets.length === 12 && !isCut)).toBe(true);
  });

  it('says which packets were too long', async () => {
    const upstream = await start(({ send }) => send(new Uint8Array(600)));
    const { socket, packets } = await opened(upstream.address);
    for (let id = 0; id < 3; id += 1) socket.send(header(id));
    await waitUntil('all are there', () => packets.length === 3);
    expect(packets.every(({ octets, isCut }) => octets.length === 512 && isCut)).toBe(true);
  });

  it('tells of a closed port, and stays usable', async () => {
    const { socket, errors } = await opened(await closedPort());
    socket.send(header(1));
    await waitUntil('the error is told', () => errors.length === 1);
    socket.send(header(2));
    await waitUntil('and again', () => errors.length === 2);
    expect(new Set(errors)).toEqual(new Set(['ECONNREFUSED']));
  });

  it('is quiet once it is closed, whatever was to be sent', async () => {
    const upstream = await start(({ query, send }) => send(header(query.header.id)));
    const { socket, packets, errors } = await opened(upstream.address);
    cleanups.pop();
    socket.send(header(1));
    socket.close();
    const other = await opened(upstream.address);
    other.socket.send(header(2));
    await waitUntil('the other one has its reply', () => other.packets.length === 1);
    expect([packets, errors]).toEqual([[], []]);
  });
});
