import { expect, it } from 'vitest';
import { inferNamespace, insertNodeDomains } from './search-lists.ts';
import { type GivenName, listAskedRows, SHOP_SEARCH } from './testing/asked-rows.ts';

const OUTCOMES = new Map([
  ['cart.shop.svc.cluster.local.', 'answer'],
  ['cart.web.svc.cluster.local.', 'answer'],
  ['www.example.com.', 'answer'],
  ['api.example.org.', 'answer'],
  ['www.corp.internal.', 'answer'],
] as const);

const listNames = (given: readonly GivenName[], search = SHOP_SEARCH) =>
  new Set(
    listAskedRows({ search, ndots: 5, library: 'glibc', outcomes: OUTCOMES, given }).map(({ name }) => name),
  );
const once = (...names: readonly string[]) => names.map((name) => ({ name, times: 1 }));

it('finds the namespace of a client by the names that its list makes', () => {
  expect(inferNamespace(listNames(once('www.example.com', 'cart', 'cart.web')), 'cluster.local.')).toBe(
    'shop',
  );
  expect(inferNamespace(listNames(once('www.example.com.')), 'cluster.local.')).toBeUndefined();
});

it('finds the domains of the node, and takes no name for one', () => {
  const search = [...SHOP_SEARCH, 'corp.internal', 'internal'];
  const infer = (names: ReadonlySet<string>) =>
    insertNodeDomains(SHOP_SEARCH, 'shop', 'cluster.local.', names);
  expect(infer(listNames(once('www.example.com', 'api.example.org', 'www'), search))).toEqual([
    ...SHOP_SEARCH,
    'corp.internal',
    'internal',
  ]);
  expect(infer(listNames(once('www', 'www.example.com', 'api', 'api.example.com')))).toEqual(SHOP_SEARCH);
});
