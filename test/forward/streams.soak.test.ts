/**
 * TCP and TLS to upstream servers: when connections are used, kept open, shared, lost and re-established.
 */
import { readFileSync } from 'node:fs';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { DEFAULT_FORWARD_PLAN, type ForwardPlan } from '@portolan/kernel/forward/forward-plan.ts';
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { readTlsFixture, tlsFixturePath } from '../api-server/tls-fixture.ts';
import { ask, forwarderTo, listAddresses } from './forwarder-on-loopback.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const TRUST: Partial<ForwardPlan> = {
  tls: { certificates: { authorities: [readFileSync(tlsFixturePath('authority.crt'), 'utf8')] } },
};

async function start(
  react: React,
  { scheme = '', name = '', plan = {} }: { scheme?: string; name?: string; plan?: Partial<ForwardPlan> } = {},
): Promise<{ upstream: LoopbackUpstream; forwarder: Forwarder }> {
  const upstream = await LoopbackUpstream.start(react, {
    tls: scheme === 'tls://' ? readTlsFixture('server') : undefined,
  });
  const forwarder = forwarderTo([`${scheme}${upstream.address}${name}`], plan);
  cleanups.push(
    () => upstream.stop(),
    () => forwarder.stop(),
  );
  return { upstream, forwarder };
}

const answer: React = ({ query, send }) => send(reply(query));
const truncate = ({ query, send }: ReceivedQuery) =>
  send(reply(query, { answers: [], header: { ...replyMessage(query).header, truncated: true } }));

describe('TCP', () => {
  it('is used for what UDP cannot carry, up to 64 KiB', async () => {
    const { upstream, forwarder } = await start((received) => {
      const { query, over, send } = received;
      if (over === 'udp') return truncate(received);
      const answers = Array.from({ length: 4000 }, (_, index) =>
        makeAddressRecord(query, `10.1.${index >> 8}.${index & 255}`),
      );
      send(reply(query, { answers }));
    });
    const result = await ask(forwarder, 'large.example.');
    expect(listAddresses(result).length).toBe(4000);
    expect(upstream.queries.map(({ over }) => over)).toEqual(['udp', 'stream']);
  });

  it('is used for replies larger than what we take, which arrive cut', async () => {
    const { upstream, forwarder } = await start(({ query, send }) => {
      const answers = Array.from({ length: 200 }, (_, index) => makeAddressRecord(query, `10.1.0.${index}`));
      send(reply(query, { answers }));
    });
    expect(listAddresses(await ask(forwarder, 'large.example.')).length).toBe(200);
    expect(upstream.queries.map(({ over }) => over)).toEqual(['udp', 'stream']);
  });

  it('is not needed where the truncated reply is all there is', async () => {
    const { forwarder } = await start((received) => {
      if (received.over === 'stream') received.connection?.destroy();
      else truncate(received);
    });
    const result = await ask(forwarder, 'large.example.');
    expect(result.kind === 'reply' && result.message.header.truncated).toBe(true);
  });

  it('is given a second, then the truncated reply is handed on, and the server counts as well', async () => {
    // Connections are accepted, and no query on them is answered.
    const timing = { ...DEFAULT_FORWARD_PLAN.timing, deadline: 60_000 };
    const { forwarder } = await start(
      (received) => {
        if (received.over === 'udp') truncate(received);
      },
      { plan: { timing } },
    );
    const begin = performance.now();
    const result = await ask(forwarder, 'large.example.');
    expect(result.kind === 'reply' && result.message.header.truncated).toBe(true);
    // Not at the deadline, however busy the machine is.
    expect(performance.now() - begin).toBeLessThan(30_000);
    expect(forwarder.statistics().upstreams[0]).toMatchObject({ state: { kind: 'well' }, timeouts: 0 });
  });

  it('keeps its connections open and answers in any order on them', async () => {
    const { upstream, forwarder } = await start(answer, { scheme: 'tcp://' });
    const makeNames = (round: string) =>
      Array.from({ length: 20 }, (_, index) => `n${index}.${round}.example.`);
    const ports = () => new Set(upstream.queries.slice(-20).map(({ port }) => port));
    for (let round = 0; round === 0 || ports().size > 4; round += 1)
      await Promise.all(makeNames(`first${round}`).map((name) => ask(forwarder, name)));
    const held: ReceivedQuery[] = [];
    upstream.react = (received) => {
      held.push(received);
      if (new Set(held.map(({ query }) => query.questions[0]?.name)).size < 20) return;
      for (const { query, send } of held.splice(0).reverse()) send(reply(query));
    };
    for (let round = 0; round < 3; round += 1) {
      const names = makeNames(`r${round}`);
      const replies = await Promise.all(names.map((name) => ask(forwarder, name)));
      expect(replies.map(listAddresses)).toEqual(names.map(() => ['192.0.2.1']));
      for (const [index, result] of replies.entries())
        expect(result.kind === 'reply' && result.message.questions[0]?.name).toBe(names[index]);
      expect(ports().size).toBeLessThanOrEqual(4);
    }
    expect(upstream.queries.every(({ over }) => over === 'stream')).toBe(true);
  });

  it('asks once more when the server closes a quiet connection just then', async () => {
    const timing = { ...DEFAULT_FORWARD_PLAN.timing, deadline: 1500 };
    const { upstream, forwarder } = await start(answer, { scheme: 'tcp://', plan: { timing } });
    expect(listAddresses(await ask(forwarder, 'one.example.'))).toEqual(['192.0.2.1']);
    let cuts = 0;
    upstream.react = (received) => {
      cuts += 1;
      if (cuts === 1) received.connection?.destroy();
      else answer(received);
    };
    expect(listAddresses(await ask(forwarder, 'two.example.'))).toEqual(['192.0.2.1']);
    expect(upstream.connections).toBe(2);
    // But not for ever.
    upstream.react = ({ connection }) => connection?.destroy();
    expect(listAddresses(await ask(forwarder, 'three.example.'))).toEqual(['network']);
  });

  it('is refused where no server listens, after some tries', async () => {
    const timing = { ...DEFAULT_FORWARD_PLAN.timing, deadline: 3000 };
    const { upstream, forwarder } = await start(answer, { scheme: 'tcp://', plan: { timing } });
    await upstream.stop();
    cleanups.shift();
    const result = await ask(forwarder, 'one.example.');
    expect(result).toMatchObject({ kind: 'failed', reason: 'network' });
    // The same error of the same server is said once, however often the server was tried.
    expect(result.kind === 'failed' && result.detail.match(/ECONNREFUSED/g)).toHaveLength(1);
  });

  it('gives up a connection that has gone silent, and asks on another', async () => {
    const { upstream, forwarder } = await start(answer, { scheme: 'tcp://' });
    await ask(forwarder, 'one.example.');
    const silent = upstream.queries[0]?.connection;
    upstream.react = (received) => {
      if (received.connection !== silent) answer(received);
    };
    expect(listAddresses(await ask(forwarder, 'two.example.'))).toEqual(['192.0.2.1']);
    expect(upstream.connections).toBe(2);
    expect(upstream.queries.length).toBe(3);
  });

  it('does not listen for ever to a server that talks nonsense', async () => {
    const { upstream, forwarder } = await start(
      ({ query, send }) => {
        for (let turn = 0; turn < 1000; turn += 1)
          send(reply(query, { header: { ...query.header, id: turn } }));
      },
      { scheme: 'tcp://' },
    );
    await ask(forwarder, 'one.example.');
    const [statistics] = forwarder.statistics().upstreams;
    expect(statistics?.dropped.strange).toBeGreaterThan(90);
    expect(upstream.queries.length).toBeLessThan(20);
  });
});

describe('TLS', () => {
  it('asks on one connection, kept open', async () => {
    const { upstream, forwarder } = await start(answer, {
      scheme: 'tls://',
      name: '#localhost',
      plan: TRUST,
    });
    for (const name of ['one.example.', 'two.example.', 'three.example.'])
      expect(listAddresses(await ask(forwarder, name))).toEqual(['192.0.2.1']);
    expect(upstream.connections).toBe(1);
    expect(forwarder.statistics().upstreams[0]?.upstream).toBe(`tls://${upstream.address}#localhost`);
  });

  it('resumes its session on the next connection', async () => {
    const { upstream, forwarder } = await start(answer, {
      scheme: 'tls://',
      name: '#localhost',
      plan: TRUST,
    });
    await ask(forwarder, 'one.example.');
    upstream.cut();
    await waitUntil('the next connection is a new one', () => upstream.connections === 1);
    expect(listAddresses(await ask(forwarder, 'two.example.'))).toEqual(['192.0.2.1']);
    expect([upstream.connections, upstream.resumed]).toEqual([2, 1]);
  });

  it('takes the certificate for the address itself where no name is given', async () => {
    const { forwarder } = await start(answer, { scheme: 'tls://', plan: TRUST });
    expect(listAddresses(await ask(forwarder, 'one.example.'))).toEqual(['192.0.2.1']);
  });

  it('asks no server whose certificate is for another name, or from no trusted authority', async () => {
    const other = await start(answer, { scheme: 'tls://', name: '#dns.example', plan: TRUST });
    const result = await ask(other.forwarder, 'one.example.');
    expect(result.kind === 'failed' && result.detail).toContain('not dns.example');
    expect(other.upstream.queries).toEqual([]);
    const untrusted = await start(answer, { scheme: 'tls://', name: '#localhost' });
    expect(listAddresses(await ask(untrusted.forwarder, 'one.example.'))).toEqual(['network']);
    expect(untrusted.upstream.queries).toEqual([]);
  });
});
