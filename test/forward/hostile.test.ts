/**
 * Upstream servers that lie, and forgers that answer in their name (RFC 5452).
 */
import { createSocket } from 'node:dgram';
import { parseName } from '@portolan/dns/name.ts';
import type { Message, ResourceRecord } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { WorkCounter } from '@portolan/kernel/base/testing/work-counter.ts';
import type { ForwardPlan } from '@portolan/kernel/forward/forward-plan.ts';
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import { writeQuery } from '@portolan/kernel/forward/transport/query-message.ts';
import { UdpTransport } from '@portolan/kernel/forward/transport/udp-transport.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, forwarderTo, listAddresses, questionFor } from './forwarder-on-loopback.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function upstreamThat(
  react: React,
  changes: Partial<ForwardPlan> = {},
): Promise<{ upstream: LoopbackUpstream; forwarder: Forwarder }> {
  const upstream = await LoopbackUpstream.start(react);
  const forwarder = forwarderTo([upstream.address], changes);
  cleanups.push(
    () => upstream.stop(),
    () => forwarder.stop(),
  );
  return { upstream, forwarder };
}

const dropped = (forwarder: Forwarder) => forwarder.statistics().upstreams[0]?.dropped;

/** Replies with what a forger would like us to take, then with the truth. */
function lieThenTell(lie: (query: Message) => Uint8Array): React {
  return ({ query, send }) => {
    send(lie(query));
    setTimeout(() => send(reply(query)), 20);
  };
}

const evil = (query: Message): Partial<Message> => ({ answers: [makeAddressRecord(query, '203.0.113.66')] });

describe('a reply is taken only if it answers the query', () => {
  it('not with another id', async () => {
    const { forwarder } = await upstreamThat(
      lieThenTell((query) =>
        reply(query, { ...evil(query), header: { ...replyMessage(query).header, id: query.header.id ^ 1 } }),
      ),
    );
    expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
    expect(dropped(forwarder)).toEqual({ strange: 1, otherQuestion: 0, otherCase: 0 });
  });

  it('not with another name, type or class in its question, nor with none or two', async () => {
    const changed: readonly ((query: Message) => Message['questions'])[] = [
      ({ questions }) => questions.map((question) => ({ ...question, name: parseName('www.examplf.') })),
      ({ questions }) => questions.map((question) => ({ ...question, type: 28 })),
      ({ questions }) => questions.map((question) => ({ ...question, class: 3 })),
      () => [],
      ({ questions }) => [...questions, ...questions],
    ];
    for (const questions of changed) {
      const { forwarder } = await upstreamThat(
        lieThenTell((query) => reply(query, { ...evil(query), questions: questions(query) })),
      );
      expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
      const { strange = 0, otherQuestion = 0 } = dropped(forwarder) ?? {};
      expect(strange + otherQuestion).toBe(1);
    }
  });

  it('although it is an error of the header alone, and then the query is repeated without EDNS', async () => {
    const { upstream, forwarder } = await upstreamThat(({ query, send }) => {
      if (query.edns === undefined) send(reply(query));
      else send(Uint8Array.of(query.header.id >> 8, query.header.id, 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    });
    expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
    expect(upstream.queries.length).toBe(2);
  });

  it('not if it is a query, too short, or of another opcode', async () => {
    const broken: readonly ((query: Message) => Uint8Array)[] = [
      (query) => reply(query, { ...evil(query), header: { ...query.header, response: false } }),
      (query) => reply(query, { ...evil(query), header: { ...replyMessage(query).header, opcode: 4 } }),
      (query) => reply(query, evil(query)).subarray(0, 11),
      () => new Uint8Array(0),
    ];
    for (const lie of broken) {
      const { forwarder } = await upstreamThat(lieThenTell(lie));
      expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
      expect(dropped(forwarder)?.strange).toBe(1);
    }
  });

  it('not from another port or address, whatever it knows', async () => {
    const forger = createSocket('udp4');
    forger.bind(0, '127.0.0.2');
    cleanups.push(() => forger.close());
    const neighbour = createSocket('udp4');
    neighbour.bind(0, '127.0.0.1');
    cleanups.push(() => neighbour.close());
    const { forwarder } = await upstreamThat(({ query, port, send }) => {
      // Id, port and question are right; only the sender is not the one that was asked.
      const lie = reply(query, evil(query));
      forger.send(lie, port, '127.0.0.1', () =>
        neighbour.send(lie, port, '127.0.0.1', () => setTimeout(() => send(reply(query)), 20)),
      );
    });
    expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
    // The kernel drops them before we see them.
    expect(dropped(forwarder)).toEqual({ strange: 0, otherQuestion: 0, otherCase: 0 });
  });

  it('not twice', async () => {
    // Otherwise the socket of the query is closed by then.
    const plan: Partial<ForwardPlan> = { sourcePorts: { kind: 'fixed', port: 0 } };
    const { forwarder } = await upstreamThat(({ query, send }) => {
      send(reply(query));
      send(reply(query, evil(query)));
    }, plan);
    expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
    await waitUntil('the second reply is dropped', () => dropped(forwarder)?.strange === 1);
  });

  it('although its question comes back in other capitals', async () => {
    const { forwarder } = await upstreamThat(({ query, send }) => {
      const questions = query.questions.map((question) => ({ ...question, name: parseName('wWw.ExAmPlE.') }));
      send(reply(query, { questions }));
    });
    expect(listAddresses(await ask(forwarder, 'WWW.example.'))).toEqual(['192.0.2.1']);
  });

  it('and a stranger with all ids of the world finds nothing open', async () => {
    const { upstream, forwarder } = await upstreamThat(({ query, send }) => send(reply(query)));
    await ask(forwarder, 'www.example.');
    const port = upstream.queries[0]?.port ?? 0;
    for (let id = 0; id < 2000; id += 1)
      upstream.udp.send(Uint8Array.of(id >> 8, id, 0x80, 0), port, '127.0.0.1');
    expect(listAddresses(await ask(forwarder, 'two.example.'))).toEqual(['192.0.2.1']);
  });
});

describe('a socket that a forger has found', () => {
  it('is closed, and its name is asked over TCP', async () => {
    const { upstream, forwarder } = await upstreamThat(({ query, over, send }) => {
      if (over === 'stream') return send(reply(query));
      for (let guess = 1; guess <= 20; guess += 1)
        send(
          reply(query, {
            ...evil(query),
            header: { ...replyMessage(query).header, id: query.header.id ^ guess },
          }),
        );
      send(reply(query, evil(query)));
    });
    expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
    expect(upstream.queries.map(({ over }) => over)).toEqual(['udp', 'stream']);
  });
});

describe('ports and ids cannot be foreseen', () => {
  it('uses a port of its own for each query at a low rate, and a pool above', async () => {
    const upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query)));
    const clock = new ManualClock();
    const transport = new UdpTransport({
      peer: { address: '127.0.0.1', port: upstream.port },
      sourceAddress: undefined,
      sourcePorts: { kind: 'any' },
      maxReply: 1232,
      ignoredAddresses: [],
      mixesCase: false,
      clock,
    });
    cleanups.push(
      () => upstream.stop(),
      () => transport.close(),
    );
    const sendQuery = (index: number) =>
      new Promise<void>((resolve, reject) => {
        transport.ask(writeQuery(questionFor(`n${index}.example.`), 1232), {
          replied: () => resolve(),
          heard() {},
          failed: (code) => reject(new Error(code)),
        });
      });
    const countPorts = (from: number) => new Set(upstream.queries.slice(from).map(({ port }) => port)).size;
    for (let index = 0; index < 500; index += 1) {
      clock.advance(20);
      await sendQuery(index);
    }
    // The system draws new ones each time: a few repeat.
    expect(countPorts(0)).toBeGreaterThan(480);
    for (let index = 0; index < 1000; index += 1) {
      clock.advance(1);
      await sendQuery(index);
    }
    expect(countPorts(1100)).toBeLessThanOrEqual(16);
  });

  it('uses many ports and no id twice in sight', async () => {
    const { upstream, forwarder } = await upstreamThat(({ query, send }) => send(reply(query)));
    for (let turn = 0; turn < 200; turn += 1) await ask(forwarder, `n${turn}.example.`);
    const ports = new Set(upstream.queries.map(({ port }) => port));
    const ids = upstream.queries.map(({ query }) => query.header.id);
    expect(ports.size).toBeGreaterThan(8);
    expect(new Set(ids).size).toBeGreaterThan(190);
    const steps = ids.slice(1).map((id, index) => Math.abs(id - (ids[index] ?? 0)));
    expect(steps.filter((step) => step <= 16).length).toBeLessThan(10);
  });
});

describe('what does not belong to the question', () => {
  const extra = (name: string, address: string): ResourceRecord => ({
    name: parseName(name),
    class: 1,
    ttl: 3600,
    data: { kind: 'A', address },
  });

  it('is dropped from every section', async () => {
    const { forwarder } = await upstreamThat(({ query, send }) =>
      send(
        reply(query, {
          answers: [extra('bank.example.', '203.0.113.66'), makeAddressRecord(query, '192.0.2.1')],
          authorities: [
            {
              name: parseName('com.'),
              class: 1,
              ttl: 3600,
              data: { kind: 'NS', target: parseName('evil.com.') },
            },
          ],
          additionals: [extra('evil.com.', '203.0.113.66')],
        }),
      ),
    );
    const result = await ask(forwarder, 'www.example.');
    expect(listAddresses(result)).toEqual(['192.0.2.1']);
    expect(result.kind === 'reply' && [result.message.authorities, result.message.additionals]).toEqual([
      [],
      [],
    ]);
    expect(forwarder.statistics().droppedRecords).toBe(3);
  });

  it('is no CNAME of a chain, however long that is', async () => {
    const alias = (from: number): ResourceRecord => ({
      name: parseName(from === 0 ? 'www.example.' : `n${from}.example.`),
      class: 1,
      ttl: 60,
      data: { kind: 'CNAME', target: parseName(`n${from + 1}.example.`) },
    });
    const { forwarder } = await upstreamThat(({ query, over, send }) => {
      const answers = Array.from({ length: 1500 }, (_, from) => alias(from));
      if (over === 'stream') send(reply(query, { answers }));
      else send(reply(query, { answers: [], header: { ...replyMessage(query).header, truncated: true } }));
    });
    const result = await ask(forwarder, 'www.example.');
    expect(result.kind === 'reply' && result.message.answers.length).toBe(1500);
  });
});

describe('malformed replies', () => {
  it('end the attempt, and the next server is asked', async () => {
    const { upstream } = await upstreamThat(({ query, send }) => send(reply(query).subarray(0, -3)));
    const good = await LoopbackUpstream.start(({ query, send }) => send(reply(query)));
    const forwarder = forwarderTo([upstream.address, good.address]);
    cleanups.push(
      () => good.stop(),
      () => forwarder.stop(),
    );
    expect(listAddresses(await ask(forwarder, 'www.example.'))).toEqual(['192.0.2.1']);
    expect(forwarder.statistics().upstreams[0]?.networkErrors).toBe(1);
  });

  it('as large as they may be and full of pointers are read in bounded time', async () => {
    const { forwarder } = await upstreamThat(({ query, over, send }) => {
      const header = { ...replyMessage(query).header, truncated: true };
      if (over === 'udp') return send(reply(query, { answers: [], header }));
      send(compressionBomb(query));
    });
    const counter = new WorkCounter();
    cleanups.push(() => counter.stop());
    counter.take();
    const result = await ask(forwarder, 'www.example.');
    expect(result.kind === 'reply' && result.message.answers.length).toBe(0);
    // Each of 9,200 names has four labels behind its pointer.
    expect(counter.take()).toBeLessThan(5_000_000);
  });
});

/** Some 4,000 records, each a few octets that stand for a name of 255. */
function compressionBomb(query: Message): Uint8Array {
  const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.`;
  const answers = Array.from({ length: 4600 }, (): ResourceRecord => {
    return { name: parseName(long), class: 1, ttl: 60, data: { kind: 'NS', target: parseName(long) } };
  });
  return reply(query, { answers });
}
