import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { createBufsizeHandler } from './plugin.ts';

const edns = { version: 0, udpSize: 4096, dnssecOk: true, extendedRcode: 0, options: [] };
const handler = createBufsizeHandler({ size: 1232 });

it('takes a larger size for its own, for the handlers behind and for what the response repeats', () => {
  const query = makeQuery('a.').with({ edns });
  let size: number | undefined;
  void handler.handle(query, (behind) => {
    size = behind.edns?.udpSize;
    return addresses('a.');
  });
  expect([size, query.repeated.edns?.udpSize]).toEqual([1232, 1232]);
});

it.each([makeQuery('a.'), makeQuery('a.').with({ edns: { ...edns, udpSize: 1232 } })])(
  'leaves other queries as they are',
  (query) => {
    void handler.handle(query, (behind) => {
      expect(behind).toBe(query);
      return addresses('a.');
    });
    expect.assertions(1);
  },
);
