import { expect, it } from 'vitest';
import { countSearched, findLookUps } from './look-ups.ts';
import { listAskedRows, SHOP_SEARCH } from './testing/asked-rows.ts';

const SETTINGS = { search: SHOP_SEARCH, ndots: 5, library: 'glibc' } as const;
const OUTCOMES = new Map([
  ['cart.shop.svc.cluster.local.', 'answer'],
  ['www.example.com.', 'answer'],
] as const);

const summarize = (given: readonly { readonly name: string; readonly times: number }[]) =>
  findLookUps(listAskedRows({ ...SETTINGS, outcomes: OUTCOMES, given }), SETTINGS).map((lookUp) => [
    lookUp.name,
    lookUp.count,
    countSearched(lookUp),
    lookUp.resolvedAs,
    lookUp.waited,
  ]);

it('tells look-ups apart that ask for the same name', () => {
  const cart = 'cart.shop.svc.cluster.local.';
  expect(
    summarize([
      { name: 'cart', times: 3 },
      { name: 'cart.shop', times: 2 },
      { name: 'www.example.com', times: 1 },
      { name: 'www.example.com.', times: 7 },
    ]),
  ).toEqual([
    ['www.example.com', 2, 6, 'www.example.com.', 3],
    ['cart.shop', 4, 8, cart, 2],
    ['cart', 6, 6, cart, 0],
    ['www.example.com.', 14, 0, 'www.example.com.', 0],
  ]);
});

it('counts no look-up whose names were not all asked for so often', () => {
  const rows = listAskedRows({
    ...SETTINGS,
    outcomes: OUTCOMES,
    given: [{ name: 'www.example.com', times: 2 }],
  });
  const [first, ...rest] = rows;
  if (first === undefined) throw new Error('no rows');
  // One question was asked again, since its answer was late.
  const found = findLookUps([{ ...first, count: 3 }, ...rest], SETTINGS);
  expect(found.map(({ name, count }) => [name, count])).toEqual([
    ['www.example.com', 4],
    ['www.example.com.shop.svc.cluster.local.', 1],
  ]);
});

it('leaves out what goes on behind the end of the time', () => {
  const [first] = listAskedRows({
    ...SETTINGS,
    outcomes: OUTCOMES,
    given: [{ name: 'api.example', times: 1 }],
  });
  if (first === undefined) throw new Error('no rows');
  const names = (last: number) => findLookUps([{ ...first, last }], SETTINGS, 60_000).map(({ name }) => name);
  expect(names(50_000)).toEqual(['api.example']);
  expect(names(59_000)).toEqual(['api.example.shop.svc.cluster.local.']);
});
