import { expect, it } from 'vitest';
import type { WatchedQuery } from './query-stream.ts';
import { TrafficCounts } from './traffic-evidence.ts';

const QUERY: WatchedQuery = {
  time: '',
  client: '10.1.0.7',
  transport: 'udp',
  name: '',
  type: 'A',
  rcode: 'NOERROR',
  answers: 1,
  milliseconds: 0,
  namespace: undefined,
  isSearched: false,
  source: 'cluster',
  reason: undefined,
};

function searched(name: string, namespace: string | undefined): WatchedQuery {
  const missing = { rcode: 'NXDOMAIN', answers: 0, isSearched: true } as const;
  return { ...QUERY, ...missing, name, namespace };
}

it('counts the questions of the search list for the namespace of its client', () => {
  const counts = new TrafficCounts('cluster.local.');
  for (let turn = 0; turn < 10; turn += 1) {
    counts.add(searched('s3.amazonaws.com.etl.svc.cluster.local.', 'etl'));
    counts.add(searched('s3.amazonaws.com.svc.cluster.local.', 'com'));
    counts.add(searched('s3.amazonaws.com.cluster.local.', undefined));
    counts.add({ ...QUERY, name: 's3.amazonaws.com.' });
  }
  counts.add({ ...QUERY, name: 'cart.shop.svc.cluster.local.', namespace: 'shop', client: '10.1.0.8' });
  const { namespaces, queries } = counts.read(2, undefined);
  expect([...namespaces]).toEqual([['etl', { queries: 40, searched: 30 }]]);
  expect(queries).toBe(41);
});

it('counts names of other clusters only where nobody knows them', () => {
  const counts = new TrafficCounts('cluster.local.');
  counts.add({ ...QUERY, name: 'cart.shop.svc.east.example.' });
  counts.add({ ...QUERY, name: 'cart.shop.svc.corp.local.', reason: 'foreign-cluster-domain' });
  expect([...counts.read(2, undefined).foreignDomains]).toEqual([['corp.local.', 1]]);
});
