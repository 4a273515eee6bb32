/**
 * Names in random case (0x20), with servers that preserve it, servers that do not, and forgers.
 */
import { parseName } from '@portolan/dns/name.ts';
import type { Message } from '@portolan/dns/types.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React, ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, it } from 'vitest';
import { ask, forwarderTo, listAddresses } from './forwarder-on-loopback.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function upstreamThat(react: React) {
  const upstream = await LoopbackUpstream.start(react);
  const forwarder = forwarderTo([upstream.address], { mixesCase: true });
  cleanups.push(
    () => upstream.stop(),
    () => forwarder.stop(),
  );
  return { upstream, forwarder };
}

const nameIn = ({ query }: ReceivedQuery): string => String(query.questions[0]?.name);

/** So many letters that their random case is never that of all lower letters. */
const makeName = (number: number) => `the-case-of-these-many-letters-is-never-guessed-${number}.example.`;

/** As servers do that fold names before they answer. */
const inLowerCase = (query: Message): Message => ({
  ...query,
  questions: query.questions.map((question) => ({
    ...question,
    name: parseName(question.name.toLowerCase()),
  })),
});

it('a server that repeats the case is sent another one each time, and no client sees it', async () => {
  const { upstream, forwarder } = await upstreamThat(({ query, send }) => send(reply(query)));
  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await ask(forwarder, `Name-${turn}.Example.Com.`);
    expect(listAddresses(answer)).toEqual(['192.0.2.1']);
    if (answer.kind === 'failed') throw new Error(answer.reason);
    expect(answer.message.answers[0]?.name).toBe(`name-${turn}.example.com.`);
  }
  expect(upstream.queries.every(({ over }) => over === 'udp')).toBe(true);
  const cases = new Set(upstream.queries.map((received) => nameIn(received).slice(-12)));
  expect(cases.size).toBeGreaterThan(10);
});

it('a server that does not is asked over TCP for three names, and then by plain names', async () => {
  const { upstream, forwarder } = await upstreamThat(({ query, send }) => send(reply(inLowerCase(query))));
  for (let turn = 0; turn < 6; turn += 1)
    expect(listAddresses(await ask(forwarder, makeName(turn)))).toEqual(['192.0.2.1']);
  expect(upstream.queries.map(({ over }) => over)).toEqual([
    'udp',
    'stream',
    'udp',
    'stream',
    'udp',
    'stream',
    'udp',
    'udp',
    'udp',
  ]);
  expect(upstream.queries.slice(-3).map(nameIn)).toEqual([3, 4, 5].map(makeName));
  expect(forwarder.statistics().upstreams[0]?.dropped).toEqual({
    strange: 0,
    otherQuestion: 0,
    otherCase: 3,
  });
  expect(forwarder.statistics().upstreams[0]?.networkErrors).toBe(0);
});

it('a forger who has guessed port and id, but not the case, is not believed', async () => {
  const forge = (query: Message) =>
    reply(inLowerCase(query), { answers: [makeAddressRecord(inLowerCase(query), '203.0.113.66')] });
  let names = 0;
  const { upstream, forwarder } = await upstreamThat(({ query, over, send }) => {
    if (over === 'udp' && names % 2 === 0) send(forge(query));
    send(reply(query));
  });
  for (names = 0; names < 20; names += 1)
    expect(listAddresses(await ask(forwarder, makeName(names)))).toEqual(['192.0.2.1']);
  // It never learns from him to send plain names: the server's own replies are between his.
  expect(upstream.queries.filter(({ over }) => over === 'stream')).toHaveLength(10);
});

it('is off unless it is asked for', async () => {
  const upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query)));
  const forwarder = forwarderTo([upstream.address]);
  cleanups.push(
    () => upstream.stop(),
    () => forwarder.stop(),
  );
  await ask(forwarder, 'www.example.');
  expect(upstream.queries.map(nameIn)).toEqual([String(parseName('www.example.'))]);
});
