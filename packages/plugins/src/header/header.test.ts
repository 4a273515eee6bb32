import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { createHeaderHandler } from './header.ts';
import type { HeaderFlagRule } from './options.ts';

const rule = (flag: HeaderFlagRule['flag'], value: boolean): HeaderFlagRule => ({ flag, value });

it('changes the flags of responses', async () => {
  const handler = createHeaderHandler({
    query: [],
    response: [rule('aa', false), rule('ra', true), rule('rd', false)],
  });
  const answer = await handler.handle(makeQuery('a.'), () => addresses('a.', '192.0.2.1'));
  expect(answer).toMatchObject({ authoritative: false, recursionAvailable: true, recursionDesired: false });
  const code = { kind: 'servfail' } as const;
  expect(await handler.handle(makeQuery('a.'), () => code)).toBe(code);
});

it('changes the flags of queries, for the handlers behind and for what the response repeats', async () => {
  const handler = createHeaderHandler({ query: [rule('rd', false)], response: [] });
  const query = makeQuery('a.');
  let desired: boolean | undefined;
  await handler.handle(query, (behind) => {
    desired = behind.recursionDesired;
    return addresses('a.', '192.0.2.1');
  });
  expect([desired, query.repeated.header.recursionDesired]).toEqual([false, false]);
});

it('states nothing without rules', async () => {
  const handler = createHeaderHandler({ query: [], response: [] });
  const answer = addresses('a.', '192.0.2.1');
  expect([...handler.questions.matches()]).toEqual([]);
  expect(await handler.handle(makeQuery('a.'), () => answer)).toBe(answer);
});
