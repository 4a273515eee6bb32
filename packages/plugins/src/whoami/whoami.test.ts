import { presentRecord } from '@portolan/dns/present.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { createWhoamiHandler } from './plugin.ts';

it("tells the client's address and port", async () => {
  const fail = () => {
    throw new Error('no other handler is asked');
  };
  const { handle } = createWhoamiHandler();
  const answer = await handle(makeQuery('a.example.', 'TXT'), fail);
  expect(answer).toMatchObject({ kind: 'records', records: [], authoritative: true });
  expect(answer.kind === 'records' && answer.additionals.map(presentRecord)).toEqual([
    'a.example. 0 IN A 192.0.2.53',
    '_udp.a.example. 0 IN SRV 0 0 5353 .',
  ]);
  const root = await handle(makeQuery('.'), fail);
  expect(root.kind === 'records' && root.additionals.map(({ name }) => name)).toEqual(['.', '_udp.']);
});
