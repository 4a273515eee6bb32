import type { Answer, Upstream } from '@portolan/plugin';
import { makeAnswer, makeQuery } from '@portolan/testing/uses.ts';
import { describe, expect, it } from 'vitest';
import { chooseServers, type FanSettings, fan } from './fan.ts';

const NEVER = new AbortController().signal;
const query = makeQuery('a.test.');
const SETTINGS: FanSettings = {
  workers: undefined,
  policy: 'sequential',
  serverCount: undefined,
  attempts: 1,
  isRace: false,
};

/** A server that answers when it is told to. */
function makeServer(name: string) {
  const asked: { resolve(answer: Answer): void; reject(error: Error): void }[] = [];
  const upstream: Upstream = {
    name,
    ask: () => new Promise((resolve, reject) => asked.push({ resolve, reject })),
  };
  return { upstream, asked };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('fan', () => {
  it('gives the first good reply, whatever came before', async () => {
    const one = makeServer('1');
    const two = makeServer('2');
    const three = makeServer('3');
    const result = fan(query, [one.upstream, two.upstream, three.upstream], SETTINGS, NEVER);
    expect([one, two, three].map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
    three.asked[0]?.resolve(makeAnswer(3));
    one.asked[0]?.reject(new Error('refused'));
    await turn();
    const good = makeAnswer(0);
    two.asked[0]?.resolve(good);
    expect(await result).toEqual({ kind: 'answer', answer: good });
  });

  it('gives the first reply in a race', async () => {
    const one = makeServer('1');
    const two = makeServer('2');
    const result = fan(query, [one.upstream, two.upstream], { ...SETTINGS, isRace: true }, NEVER);
    const denied = makeAnswer(3);
    two.asked[0]?.resolve(denied);
    expect(await result).toEqual({ kind: 'answer', answer: denied });
  });

  it('gives the first bad reply if there is no good one, and an error if there is none', async () => {
    const one = makeServer('1');
    const two = makeServer('2');
    const result = fan(query, [one.upstream, two.upstream], SETTINGS, NEVER);
    one.asked[0]?.resolve(makeAnswer(3));
    await turn();
    two.asked[0]?.resolve(makeAnswer(2));
    expect(await result).toEqual({ kind: 'answer', answer: makeAnswer(3) });
    const failing = fan(query, [one.upstream], SETTINGS, NEVER);
    one.asked[1]?.reject(new Error('no route'));
    expect(await failing).toEqual({ kind: 'failed', reason: 'attempt limit has been reached: no route' });
  });

  it('asks as many at the same time as it has workers', async () => {
    const servers = ['1', '2', '3'].map(makeServer);
    const upstreams = servers.map(({ upstream }) => upstream);
    const result = fan(query, upstreams, { ...SETTINGS, workers: 2 }, NEVER);
    expect(servers.map(({ asked }) => asked.length)).toEqual([1, 1, 0]);
    servers[0]?.asked[0]?.resolve(makeAnswer(2));
    await turn();
    expect(servers.map(({ asked }) => asked.length)).toEqual([1, 1, 1]);
    servers[2]?.asked[0]?.resolve(makeAnswer(0));
    expect(await result).toMatchObject({ kind: 'answer', answer: { rcode: 0 } });
  });

  it('asks a server again, and ends with the signal', async () => {
    const server = makeServer('1');
    const end = new AbortController();
    const result = fan(query, [server.upstream], { ...SETTINGS, attempts: 0 }, end.signal);
    server.asked[0]?.reject(new Error('timeout'));
    await turn();
    end.abort();
    expect(await result).toMatchObject({ kind: 'failed' });
    const over = new AbortController();
    over.abort();
    expect(await fan(query, [server.upstream], SETTINGS, over.signal)).toMatchObject({ kind: 'failed' });
  });
});

describe('chooseServers', () => {
  const servers = [50, 70, 100].map((weight, index) => ({
    upstream: makeServer(String(index)).upstream,
    weight,
  }));
  const names = (chosen: readonly Upstream[]) => chosen.map(({ name }) => name);

  it('takes all in order', () => {
    expect(names(chooseServers(servers, { ...SETTINGS, serverCount: 2 }, () => 0.9))).toEqual([
      '0',
      '1',
      '2',
    ]);
  });

  it.each([
    [
      [0, 0],
      ['0', '1'],
    ],
    [
      [0.99, 0.99],
      ['2', '1'],
    ],
    [
      [0.3, 0.5],
      ['1', '2'],
    ],
  ])('takes some by weight: %j', (numbers, expected) => {
    const left = [...numbers];
    const settings: FanSettings = { ...SETTINGS, policy: 'weighted-random', serverCount: 2 };
    expect(names(chooseServers(servers, settings, () => left.shift() ?? 0))).toEqual(expected);
  });
});
