import { expect, it } from 'vitest';
import { findLookUps } from './look-ups.ts';
import { propose } from './proposal.ts';
import { type GivenName, listAskedRows, SHOP_SEARCH } from './testing/asked-rows.ts';

const OUTCOMES = new Map([
  ['cart.shop.svc.cluster.local.', 'answer'],
  ['db-0.db.web.svc.cluster.local.', 'answer'],
  ['example.com.', 'answer'],
  ['www.example.com.', 'answer'],
] as const);

function proposeFor(given: readonly GivenName[], library: 'glibc' | 'musl' = 'glibc', ndots = 5) {
  const settings = { search: SHOP_SEARCH, ndots, library };
  return propose(findLookUps(listAskedRows({ ...settings, outcomes: OUTCOMES, given }), settings), settings);
}

it('proposes 2 where only names of two dots and more need no list', () => {
  expect(
    proposeFor([
      { name: 'cart', times: 5 },
      { name: 'www.example.com', times: 10 },
    ]),
  ).toEqual({
    ndots: 2,
    saved: 60,
    completeNames: [],
  });
});

it('keeps names with dots found by the list', () => {
  const given = [
    { name: 'db-0.db.web', times: 1 },
    { name: 'www.example.com', times: 10 },
  ];
  expect(proposeFor(given)).toEqual({
    ndots: undefined,
    saved: 0,
    completeNames: [
      { name: 'www.example.com', complete: 'www.example.com.', saved: 60 },
      { name: 'db-0.db.web', complete: 'db-0.db.web.svc.cluster.local.', saved: 2 },
    ],
  });
});

it('proposes 1 where that saves much more than 2', () => {
  const given = [
    { name: 'cart', times: 5 },
    { name: 'example.com', times: 10 },
    { name: 'www.example.com', times: 10 },
  ];
  expect(proposeFor(given)).toMatchObject({ ndots: 1, saved: 120 });
  expect(proposeFor([...given, { name: 'cart.shop', times: 1 }])).toMatchObject({
    ndots: 2,
    saved: 60,
    completeNames: [{ name: 'example.com' }, { name: 'cart.shop' }],
  });
});

it('counts what glibc asks for a missing name also after the change', () => {
  const given = [{ name: 'no.such.example', times: 10 }];
  expect(proposeFor(given)).toMatchObject({ ndots: undefined, saved: 0 });
  expect(proposeFor(given, 'musl')).toMatchObject({ ndots: 2, saved: 60 });
});

it('proposes nothing to who has it', () => {
  expect(proposeFor([{ name: 'www.example.com', times: 10 }], 'glibc', 2)).toMatchObject({
    ndots: undefined,
  });
});
