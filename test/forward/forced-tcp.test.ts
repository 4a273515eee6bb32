/**
 * Servers that must be queried over TCP: connections are renewed and spread, and UDP is used while TCP does not get through.
 */
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { adaptBlocks } from '@portolan/frontends/node-cache/settings/node-cache-blocks.ts';
import { findOptions } from '@portolan/frontends/plugins/registry.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { ForwardTally } from '@portolan/kernel/forward/forward-tally.ts';
import { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import { Forward } from '@portolan/plugins/forward/forward.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { expect, it, onTestFinished } from 'vitest';

const answer: React = ({ query, send }) => send(reply(query));

/** Forwards to the server as a cache on a node does. */
async function forwardTo(upstream: LoopbackUpstream, restored = NOTHING_RESTORED) {
  const corefile = `. {\n forward . ${upstream.address} {\n force_tcp\n }\n}\n`;
  const reading = readCorefile(corefile, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    interfaces: new Map(),
    files: DISK_FILES,
  });
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
  const [block] = adaptBlocks(reading.blocks);
  const options = block && findOptions(block, 'forward');
  if (options === undefined) throw new Error('no forward');
  const clock = new ManualClock();
  const log = new RecordingLog();
  const counts = { metrics: new MetricRegistry(), forwardTally: new ForwardTally() };
  const path = {
    readerPath: new ReaderPath(1, clock),
    resolveName: () => Promise.reject(new Error('no names')),
  };
  let forward: Forward | undefined;
  /** Another plan is in force. */
  const change = async () => {
    const former = forward;
    forward = new Forward(options, { clock, log, ...counts, ...path, restored }, former);
    await forward.start();
    forward.follow();
    await former?.stop();
  };
  await change();
  onTestFinished(() => forward?.stop());
  const ask = async (name: string): Promise<Answer['kind'] | undefined> => {
    const asked = await forward?.handler.handle(makeQuery(name), () => ({ kind: 'refused' }));
    return asked?.kind;
  };
  return { clock, log, ask, change };
}

/** How the server was asked for a name, in order. */
function listTransports({ queries }: LoopbackUpstream, name: string): readonly ReceivedQuery['over'][] {
  return queries.flatMap(({ query, over }) => (query.questions[0]?.name === name ? [over] : []));
}

async function start(react: React): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(react);
  onTestFinished(() => upstream.stop());
  return upstream;
}

it('spreads queries under way at once over two connections, and keeps them', async () => {
  const held: (() => void)[] = [];
  const upstream = await start(answer);
  const { ask, clock } = await forwardTo(upstream);
  const askAll = (round: string) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => ask(`n${index}.${round}.example.`)));
  // Until the server is known to take many queries on a connection, and the connections for that are closed.
  for (let round = 0; round < 20; round += 1)
    expect(new Set(await askAll(`first${round}`))).toEqual(new Set(['message']));
  clock.advance(30_000);
  upstream.queries.length = 0;
  upstream.react = ({ query, send }) => held.push(() => send(reply(query)));
  for (let round = 0; round < 3; round += 1) {
    const asked = askAll(`held${round}`);
    await waitUntil('all queries', () => held.length === 20);
    for (const send of held.splice(0)) send();
    expect(new Set(await asked)).toEqual(new Set(['message']));
  }
  const ports = upstream.queries.map(({ port }) => port);
  expect(new Set(ports).size).toBe(2);
  const [first] = ports;
  expect(ports.filter((port) => port === first)).toHaveLength(30);
});

it.each([
  ['keeps its connection', NOTHING_RESTORED, 1],
  ['opens a new one, as CoreDNS does, if that is restored', new Set(['reload-keeps-state']), 2],
] satisfies readonly [string, RestoredDeviations, number][])(
  '%s when the plan changes',
  async (_, restored, connections) => {
    const upstream = await start(answer);
    const { ask, change } = await forwardTo(upstream, restored);
    expect(await ask('a.example.')).toBe('message');
    await change();
    expect(await ask('b.example.')).toBe('message');
    expect(upstream.connections).toBe(connections);
  },
);

it('asks once for equal questions that are under way', async () => {
  const held: (() => void)[] = [];
  const upstream = await start(({ query, send }) => held.push(() => send(reply(query))));
  const { ask } = await forwardTo(upstream);
  const asked = Promise.all(Array.from({ length: 10 }, () => ask('a.example.')));
  await waitUntil('the query', () => held.length > 0);
  for (const send of held.splice(0)) send();
  expect(new Set(await asked)).toEqual(new Set(['message']));
  expect(listTransports(upstream, 'a.example.')).toEqual(['stream']);
});

it('leaves a connection after a minute, since a new one may lead to another server', async () => {
  const upstream = await start(answer);
  const { ask, clock } = await forwardTo(upstream);
  for (let second = 0; second < 120; second += 5) {
    expect(await ask('a.example.')).toBe('message');
    clock.advance(5_000);
  }
  expect(upstream.connections).toBe(2);
});

it('asks over UDP while connections are accepted and nothing is answered on them', async () => {
  const upstream = await start((received) => {
    if (received.over === 'udp') answer(received);
  });
  const { ask, clock, log } = await forwardTo(upstream);
  const first = ask('a.example.');
  await waitUntil('the query over TCP', () => upstream.queries.length === 1);
  clock.advance(500);
  expect(await first).toBe('message');
  clock.advance(1_000);
  expect(log.records.at(-1)?.message).toContain('does not answer over TCP: asking it over UDP');
  expect(await ask('b.example.')).toBe('message');
  expect(listTransports(upstream, 'b.example.')).toEqual(['udp']);
  upstream.react = answer;
  clock.advance(5_000);
  expect(await ask('c.example.')).toBe('message');
  await waitUntil('TCP to be back', () => log.records.at(-1)?.message.includes('over TCP again') === true);
  expect(await ask('d.example.')).toBe('message');
  expect(listTransports(upstream, 'd.example.')).toEqual(['stream']);
});
