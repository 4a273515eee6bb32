import { type Answer, type Client, toName } from '@portolan/plugin';
import {
  askPlugin,
  describeAnswer,
  makeAnswer,
  makeContext,
  makePlugin,
  makeQuery,
  makeRecord,
  makeUse,
} from '@portolan/testing/uses.ts';
import { expect, it } from 'vitest';
import ads from './plugin.ts';

const A = 1;
const MX = 15;
const AAAA = 28;
const SOA_LINE = 'ads.example. 60 IN SOA localhost. nobody.invalid. 1 14400 3600 604800 60';

function make(...lines: readonly string[]) {
  const context = makeContext();
  const plugin = makePlugin(ads, context, makeUse('ads', 'block ads.example', ...lines));
  const ask = async (
    name: string,
    type = A,
    behind: Answer = makeAnswer(0),
    client: Partial<Client> = {},
  ) => {
    const query = makeQuery(name, type, client);
    return { query, answer: await askPlugin(plugin, query, behind) };
  };
  const describe = async (name: string, type?: number) => describeAnswer((await ask(name, type)).answer);
  return { ask, describe, context };
}

it('answers blocked names with its targets, and leaves others as they are', async () => {
  const { ask, describe, context } = make('target 192.0.2.1', 'target-ipv6 2001:db8::1');
  expect(await describe('Ads.Example.')).toEqual(['records', 'Ads.Example. 3600 IN A 192.0.2.1']);
  expect((await ask('Ads.Example.')).query.isDerived).toBe(true);
  expect(await describe('ads.example.', AAAA)).toEqual(['records', 'ads.example. 3600 IN AAAA 2001:db8::1']);
  expect(await describe('ads.example.', MX)).toEqual(['nodata', SOA_LINE]);
  const behind = makeAnswer(0, [makeRecord('www.example.', { kind: 'A', address: '192.0.2.9' })]);
  expect((await ask('www.example.', A, behind)).answer).toBe(behind);
  expect(context.counts).toEqual(
    new Map([
      ['coredns_ads_request_count_total', 5],
      ['coredns_ads_blocked_request_count_total', 4],
    ]),
  );
});

it('denies with nxdomain', async () => {
  expect(await make('nxdomain').describe('ads.example.')).toEqual(['nxdomain', SOA_LINE]);
});

it('blocks names that are aliases of blocked ones, which no reader repeats', async () => {
  const { ask, context } = make('log');
  const alias = makeRecord('www.example.', { kind: 'CNAME', target: toName('ADS.example.') });
  const { query, answer } = await ask('www.example.', A, makeAnswer(0, [alias]));
  expect(describeAnswer(answer)).toEqual(['records', 'www.example. 3600 IN A 127.0.0.1']);
  expect(query.isDerived).toBe(false);
  expect(context.lines).toEqual(['info plugin/ads: Blocked request "ads.example" from "192.0.2.1"']);
});
