import type { Reply } from '@portolan/plugin';
import { expect, it } from 'vitest';
import { BLOCK, makeContext, makeQuery, makeReply, makeUse } from '../../testing/src/uses.ts';
import ads from './plugin.ts';

const [A, CNAME, MX, AAAA] = [1, 5, 15, 28];

function make(...lines: readonly string[]) {
  const context = makeContext();
  const instance = ads.create(ads.parse([makeUse('ads', 'block ads.example', ...lines)], BLOCK), context);
  const ask = async (name: string, type = A, behind: Reply = makeReply(0)) =>
    await instance.handle(makeQuery(name, type), async () => behind);
  return { ask, context };
}

it('answers blocked names with its targets, and leaves others as they are', async () => {
  const { ask, context } = make('target 192.0.2.1', 'target-ipv6 2001:db8::1');
  const keep = 'until-changed';
  expect(await ask('Ads.Example.')).toEqual({
    kind: 'records',
    records: [{ name: 'Ads.Example.', type: A, ttl: 3_600, data: '192.0.2.1' }],
    keep,
  });
  expect(await ask('ads.example.', AAAA)).toMatchObject({ records: [{ data: '2001:db8::1' }] });
  expect(await ask('ads.example.', MX)).toMatchObject({
    kind: 'denied',
    exists: true,
    soa: { name: 'ads.example.' },
  });
  const behind = makeReply(0, [{ name: 'www.example.', type: A, ttl: 5, data: '192.0.2.9' }]);
  expect(await ask('www.example.', A, behind)).toBe(behind);
  expect(context.counts).toEqual(
    new Map([
      ['request_count_total', 4],
      ['blocked_request_count_total', 3],
    ]),
  );
});

it('denies with nxdomain', async () => {
  expect(await make('nxdomain').ask('ads.example.')).toMatchObject({ kind: 'denied', exists: false });
});

it('blocks names that are aliases of blocked ones, for this client only', async () => {
  const { ask, context } = make('log');
  const alias = { name: 'www.example.', type: CNAME, ttl: 5, data: 'ADS.example.' };
  expect(await ask('www.example.', A, makeReply(0, [alias]))).toMatchObject({
    kind: 'records',
    records: [{ name: 'www.example.', data: '127.0.0.1' }],
    keep: 'never',
  });
  expect(context.lines).toEqual(['info Blocked request "ads.example" from "192.0.2.1"']);
});
