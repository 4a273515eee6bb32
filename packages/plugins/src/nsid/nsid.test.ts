import type { WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { expect, it } from 'vitest';
import { createNsidHandler } from './plugin.ts';

const NSID = 3;
const query = makeQuery('a.').with({
  edns: {
    version: 0,
    udpSize: 1232,
    dnssecOk: false,
    extendedRcode: 0,
    options: [{ code: NSID, data: new Uint8Array() }],
  },
});
const handler = createNsidHandler({ data: undefined }, 'node-1');

it('adds its identity to responses for clients that ask for it', async () => {
  expect(await handler.handle(query, () => addresses('a.', '192.0.2.1'))).toMatchObject({
    edns: { udpSize: 1232, dnssecOk: true, options: [{ code: NSID, data: Buffer.from('node-1') }] },
  });
  const upstream: WholeAnswer = { ...EMPTY_ANSWER, edns: { udpSize: 512, dnssecOk: false, options: [] } };
  expect(await handler.handle(query, () => upstream)).toMatchObject({
    edns: { udpSize: 512, dnssecOk: false },
  });
});

it('leaves all other queries and bare codes alone', async () => {
  const answer = addresses('a.', '192.0.2.1');
  expect(await handler.handle(makeQuery('a.'), () => answer)).toBe(answer);
  const code = { kind: 'servfail' } as const;
  expect(await handler.handle(query, () => code)).toBe(code);
});

it('tells the text of its options', async () => {
  const named = createNsidHandler({ data: 'edge 7' }, 'node-1');
  expect(await named.handle(query, () => addresses('a.'))).toMatchObject({
    edns: { options: [{ data: Buffer.from('edge 7') }] },
  });
});
