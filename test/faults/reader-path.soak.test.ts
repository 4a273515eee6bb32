/**
 * Upstream servers that reader threads query by themselves, and that fail in every way: all clients get the same answers as from
 * the main thread.
 */

import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import type { Message } from '@portolan/dns/types.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { DnsClient } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, look, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const answer: React = ({ query, send }) => send(reply(query));

interface Place {
  readonly upstream: LoopbackUpstream;
  stopUpstream(): Promise<void>;
  ask(name: string): Promise<Message>;
  metric(name: string): Promise<number>;
}

async function start(react: React): Promise<Place> {
  const upstream = await LoopbackUpstream.start(answer);
  const serving = await servePortolan(['--example', `--upstream=${upstream.address}`, '--udp-readers=1']);
  const client = await DnsClient.openUdp();
  let isStopped = false;
  const stopUpstream = async () => {
    if (!isStopped) await upstream.stop();
    isStopped = true;
  };
  onTestFinished(async () => {
    await client.close();
    await stopUpstream();
  });
  const ask = async (name: string) =>
    decodeMessage(
      (await client.ask(name, { address: '127.0.0.1', port: serving.port }, { deadline: 20_000 })).message,
    );
  const metric = async (name: string) => {
    const { text } = await look(serving, '/metrics');
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
    return values.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  // The test for loops is over.
  await waitUntil('the server to be known', () => upstream.queries.length > 0);
  await ask('first.outside.example');
  upstream.queries.length = 0;
  upstream.react = react;
  return { upstream, stopUpstream, ask, metric };
}

const SLOW = 'portolan_slow_path_queries_total';
const addresses = ({ answers }: Message) =>
  answers.map(({ data }) => (data.kind === 'A' ? data.address : data.kind));
const reactToFirst = (react: React, others: React): React => {
  let count = 0;
  return (received) => {
    count += 1;
    (count === 1 ? react : others)(received);
  };
};

describe('an upstream server that readers ask', () => {
  it('is asked from many ports, once for equal questions, and the main thread has nothing to do with it', async () => {
    const { upstream, ask, metric } = await start(answer);
    const before = await metric(SLOW);
    for (let index = 0; index < 30; index += 1)
      expect(addresses(await ask(`plain-${index}.outside.example`))).toEqual(['192.0.2.1']);
    expect(new Set(upstream.queries.map(({ port }) => port)).size).toBeGreaterThan(20);
    expect(new Set(upstream.queries.map(({ query }) => query.header.id)).size).toBeGreaterThan(25);
    upstream.queries.length = 0;
    upstream.react = (received) => void setTimeout(() => answer(received), 100);
    const equal = await Promise.all(Array.from({ length: 8 }, () => ask('equal.outside.example')));
    expect(equal.map(addresses)).toEqual(Array.from({ length: 8 }, () => ['192.0.2.1']));
    // One, but where the machine is so busy that it is overdue.
    expect(upstream.queries.length).toBeLessThan(4);
    expect(await metric('portolan_upstream_queries_total')).toBeGreaterThanOrEqual(32);
    expect((await metric(SLOW)) - before).toBeLessThan(10);
  });

  it('that is silent is asked again by the main thread', async () => {
    const { upstream, ask, metric } = await start(reactToFirst(() => {}, answer));
    expect(addresses(await ask('silent.outside.example'))).toEqual(['192.0.2.1']);
    expect(upstream.queries).toHaveLength(2);
    expect(await metric(SLOW)).toBeGreaterThan(0);
  });

  it('may be late: its reply still counts', async () => {
    const late: React = (received) => void setTimeout(() => answer(received), 700);
    const { ask } = await start(reactToFirst(late, () => {}));
    expect(addresses(await ask('late.outside.example'))).toEqual(['192.0.2.1']);
  });

  it('that says SERVFAIL, or what is not plain, is believed as far as it is everywhere', async () => {
    const { upstream, ask } = await start(({ query, send }) =>
      send(reply(query, { header: { ...query.header, response: true, rcode: 2 }, answers: [] })),
    );
    expect((await ask('failing.outside.example')).header.rcode).toBe(2);
    expect(upstream.queries).toHaveLength(1);
  });

  it('that truncates is asked over TCP', async () => {
    const { upstream, ask } = await start((received) => {
      const { query, send, over } = received;
      const header = { ...replyMessage(query).header, truncated: true };
      if (over === 'udp') send(reply(query, { header, answers: [] }));
      else answer(received);
    });
    expect(addresses(await ask('truncated.outside.example'))).toEqual(['192.0.2.1']);
    expect(upstream.queries.map(({ over }) => over)).toEqual(['udp', 'stream']);
  });

  it('behind a forger is not answered for by another', async () => {
    const forge = ({ query, send }: ReceivedQuery, change: Partial<Message>) =>
      send(encodeMessage({ ...replyMessage(query), ...change }));
    const withId = (query: Message, id: number) => ({ ...replyMessage(query).header, id });
    const { upstream, ask, metric } = await start((received) => {
      const { query } = received;
      if (received.over === 'udp')
        for (let other = 1; other <= 6; other += 1)
          forge(received, { header: withId(query, (query.header.id + other) & 0xffff), answers: [] });
      answer(received);
    });
    expect(addresses(await ask('forged.outside.example'))).toEqual(['192.0.2.1']);
    // Too many of them: what was asked by that socket is asked over TCP.
    expect(upstream.queries.map(({ over }) => over)).toEqual(['udp', 'stream']);
    expect(await metric('portolan_upstream_dropped_replies_total')).toBeGreaterThan(3);
  });

  it('that is gone and comes back is used again', async () => {
    const { upstream, stopUpstream, ask } = await start(answer);
    const { port } = upstream;
    await stopUpstream();
    expect((await ask('gone.outside.example')).header.rcode).toBe(2);
    const again = await LoopbackUpstream.start(answer, { port });
    onTestFinished(() => again.stop());
    const end = performance.now() + 30_000;
    let seen: readonly string[] = [];
    for (let turn = 0; seen.length === 0 && performance.now() < end; turn += 1)
      seen = addresses(await ask(`back-${turn}.outside.example`));
    expect(seen).toEqual(['192.0.2.1']);
  });
});
