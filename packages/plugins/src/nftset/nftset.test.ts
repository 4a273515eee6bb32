import { parseKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { addresses, makeQuery, record } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { describe, expect, it } from 'vitest';
import type { WantedAddress } from './nft-sets.ts';
import { Nftset, WAIT } from './nftset.ts';
import type { NftSet, NftsetRule } from './options.ts';

const allowed: NftSet = { family: 'inet', table: 'filter', name: 'allowed', only: undefined };
const other: NftSet = { ...allowed, name: 'other' };

const makeRule = (domain: string, set: NftSet, isClosed = false): NftsetRule => ({
  domains: [parseKey(domain)],
  sets: [set],
  isClosed,
});

/** @param result of putting addresses into sets */
const make = (rules: readonly NftsetRule[], result: true | Promise<boolean> = true) => {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  const put: { readonly sets: readonly NftSet[]; readonly addresses: readonly WantedAddress[] }[] = [];
  const add = (sets: readonly NftSet[], wanted: readonly WantedAddress[]) => {
    put.push({ sets, addresses: wanted });
    return result;
  };
  const plugin = new Nftset(
    { rules },
    { useSets: () => ({ value: { add }, release: async () => {} }), clock, metrics },
  );
  plugin.start();
  const ask = (name: string, answer: Answer, type = 'A') => {
    const query = makeQuery(name, type);
    return { query, answer: Promise.resolve(plugin.handler.handle(query, () => answer)) };
  };
  return { clock, metrics, put, plugin, ask };
};

describe('the questions of nftset', () => {
  it('are those for addresses in its domains', () => {
    const { questions } = make([makeRule('example.com.', allowed)]).plugin.handler;
    const www = parseKey('www.example.com.');
    expect([TYPE.A, TYPE.AAAA, TYPE.ANY, TYPE.MX].map((type) => questions.includes(www, type))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(questions.includes(parseKey('badexample.com.'), TYPE.A)).toBe(false);
    expect(make([makeRule('.', allowed)]).plugin.handler.questions.includes(www, TYPE.A)).toBe(true);
  });
});

describe('an answer', () => {
  it('leaves once its addresses are in the sets, and readers do not keep it', async () => {
    const { put, ask } = make([makeRule('example.com.', allowed)], Promise.resolve(true));
    const answer = addresses('www.example.com.', '192.0.2.1', '192.0.2.2');
    const asked = ask('www.example.com.', answer);
    expect(await asked.answer).toBe(answer);
    expect(put.map(({ addresses: wanted }) => wanted.map(({ address }) => address))).toEqual([
      ['192.0.2.1', '192.0.2.2'],
    ]);
    expect(asked.query.isDerived).toBe(false);
    expect(asked.query.clientWasRead).toBe(false);
  });

  it('behind an alias counts by the name of the question', async () => {
    const { put, ask } = make([makeRule('example.com.', allowed)]);
    const answers = [
      record('www.example.com.', { kind: 'CNAME', target: parseKey('cdn.example.net.') }),
      record('cdn.example.net.', { kind: 'A', address: '192.0.2.7' }),
      record('cdn.example.net.', { kind: 'AAAA', address: '2001:db8::7' }),
    ];
    await ask('www.example.com.', { ...EMPTY_ANSWER, answers }).answer;
    expect(put[0]?.addresses.map(({ family, address }) => [family, address])).toEqual([
      ['ipv4', '192.0.2.7'],
      ['ipv6', '2001:db8::7'],
    ]);
  });

  it('goes into the sets of the nearest domain, of all its rules', async () => {
    const { put, ask } = make([
      makeRule('.', other),
      makeRule('example.com.', allowed),
      makeRule('example.com.', other),
      makeRule('a.example.com.', other),
    ]);
    for (const name of ['example.com.', 'x.a.example.com.', 'example.org.'])
      await ask(name, addresses(name, '192.0.2.1')).answer;
    expect(put.map(({ sets }) => sets.map(({ name }) => name))).toEqual([
      ['allowed', 'other'],
      ['other'],
      ['other'],
    ]);
  });

  it.each<[string, Answer, string]>([
    ['of another type', addresses('www.example.com.', '192.0.2.1'), 'MX'],
    ['without addresses', EMPTY_ANSWER, 'A'],
    ['that is refused', { kind: 'refused' }, 'A'],
    ['that is dropped', { kind: 'drop' }, 'A'],
  ])('%s puts nothing', async (_, answer, type) => {
    const { put, ask } = make([makeRule('example.com.', allowed)]);
    expect(await ask('www.example.com.', answer, type).answer).toBe(answer);
    expect(put).toEqual([]);
  });

  it.each([
    [false, 'sent'],
    [true, 'servfail'],
  ])('whose addresses are not in time leaves after 20 ms, closed: %s', async (isClosed, response) => {
    const { clock, metrics, ask } = make(
      [makeRule('example.com.', allowed, isClosed)],
      new Promise(() => {}),
    );
    const answer = addresses('www.example.com.', '192.0.2.1');
    const asked = ask('www.example.com.', answer).answer;
    let isSent = false;
    void asked.then(() => {
      isSent = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(WAIT - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSent).toBe(false);
    clock.advance(1);
    expect((await asked).kind).toBe(isClosed ? 'servfail' : answer.kind);
    expect(metrics.render()).toContain(`portolan_nftset_unconfirmed_answers_total{response="${response}"} 1`);
    expect(clock.pending).toBe(0);
  });

  it('whose addresses the kernel refuses leaves, or is SERVFAIL', async () => {
    const refused = Promise.resolve(false);
    const answer = addresses('www.example.com.', '192.0.2.1');
    const open = make([makeRule('example.com.', allowed)], refused);
    expect(await open.ask('www.example.com.', answer).answer).toBe(answer);
    const closed = make([makeRule('example.com.', allowed, true)], refused);
    expect(await closed.ask('www.example.com.', answer).answer).toMatchObject({
      kind: 'servfail',
      reason: expect.stringContaining('nftset'),
    });
  });
});
