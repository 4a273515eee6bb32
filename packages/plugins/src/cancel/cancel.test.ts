import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { createCancelHandler } from './plugin.ts';

it('leaves queries and answers alone, as it does in CoreDNS', async () => {
  const answer = addresses('a.', '192.0.2.1');
  expect(await createCancelHandler().handle(makeQuery('a.'), () => answer)).toBe(answer);
});
