import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { describe, expect, it } from 'vitest';
import type { PodSearch } from '../../objects/objects.ts';
import { computePodSearchList, listSearchCandidates, searchListOfNodes } from './search-list.ts';

const key = (text: string) => toKey(parseName(text));
const ZONE = key('cluster.local.');
const HOST = [key('corp.example.')];

const computeSearchList = (search: PodSearch, host = HOST) =>
  computePodSearchList({ namespace: 'team-a', search }, ZONE, host);

describe('the search list of a pod', () => {
  it('has the domains of its namespace, those of the node, and its own', () => {
    expect(computeSearchList({ kind: 'cluster', more: ['Dev.example', 'cluster.local'] })).toEqual([
      'team-a.svc.cluster.local.',
      'svc.cluster.local.',
      'cluster.local.',
      'corp.example.',
      'dev.example.',
    ]);
  });

  it('is only its own without a policy', () => {
    const domains = ['team-b.svc.cluster.local', 'dev.example'];
    expect(computeSearchList({ kind: 'own', domains })).toEqual([
      'team-b.svc.cluster.local.',
      'dev.example.',
    ]);
  });

  it.each<[string, PodSearch]>([
    ['the pod does not say', { kind: 'unknown' }],
    ['a domain is no name', { kind: 'cluster', more: ['a..b'] }],
    ['there are more domains than some resolvers take', { kind: 'cluster', more: ['a', 'b', 'c'] }],
    ['they are longer than some resolvers take', { kind: 'cluster', more: [`${'a.'.repeat(100)}example`] }],
    ['the first domain is of no namespace', { kind: 'own', domains: ['cluster.local'] }],
    ['the first domain is elsewhere', { kind: 'own', domains: ['dev.example'] }],
    ['there is none', { kind: 'own', domains: [] }],
  ])('is not known if %s', (_, search) => {
    expect(computeSearchList(search)).toBe(undefined);
  });

  it('can be below the root', () => {
    const list = computePodSearchList({ namespace: 'a', search: { kind: 'cluster', more: [] } }, ROOT, []);
    expect(list).toEqual(['a.svc.', 'svc.', '.']);
  });
});

it('takes the domains of the server for those of nodes, without those of its own pod', () => {
  const own = ['kube-system.svc.cluster.local.', 'svc.cluster.local.', 'cluster.local.', 'corp.example.'];
  expect(searchListOfNodes(own.map(key), ZONE)).toEqual(HOST);
  expect(searchListOfNodes(HOST, ZONE)).toEqual(HOST);
  expect(searchListOfNodes([], ZONE)).toEqual([]);
});

describe('the names that a client asks for', () => {
  const domains = ['team-a.svc.cluster.local.', 'svc.cluster.local.'].map(key);

  it('end with the name as it is', () => {
    expect(listSearchCandidates(parseName('Cart.Shop.team-a.svc.cluster.local.'), domains)).toEqual([
      'Cart.Shop.team-a.svc.cluster.local.',
      'Cart.Shop.svc.cluster.local.',
      'Cart.Shop.',
    ]);
  });

  it('have the root once', () => {
    expect(listSearchCandidates(parseName('a.b.x.'), [key('x.'), ROOT])).toEqual(['a.b.x.', 'a.b.']);
  });

  it.each(['team-a.svc.cluster.local.', 'xteam-a.svc.cluster.local.', 'a.svc.cluster.local.', '.'])(
    'are unknown for %s',
    (name) => {
      expect(listSearchCandidates(parseName(name), domains)).toBe(undefined);
    },
  );
});
