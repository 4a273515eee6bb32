import { expect, it } from 'vitest';
import { Query } from './query.ts';
import { makeQuery } from './testing/queries.ts';

const state = (query: Query) => [
  query.dependence,
  query.isOnlyForIpv6,
  query.mayBeCached,
  query.isPartlyKept,
];

it('is read without a trace: what an answer depends on is said by a method', () => {
  const query = makeQuery('a.example.');
  const before = state(query);
  const getters = Object.entries(Object.getOwnPropertyDescriptors(Query.prototype)).filter(
    ([, { get }]) => get,
  );
  expect(getters.length).toBeGreaterThan(20);
  for (const [name] of getters) Reflect.get(query, name);
  expect(state(query)).toEqual(before);
  query.dependOnClient();
  expect(query.clientWasRead).toBe(true);
  expect([query.isDerived, query.kept]).toEqual([false, undefined]);
});

it('tells the client to logs and admission without a trace', () => {
  const query = makeQuery('a.example.');
  expect([query.sender.address, query.account]).toEqual(['192.0.2.53', '192.0.2.53']);
  expect(query.isDerived).toBe(true);
  expect(query.dependOnClient()).toBe(query.sender);
});
