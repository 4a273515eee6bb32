import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { record } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { translateZone } from './zone-translation.ts';

const key = (name: string) => toKey(parseName(name));

it.each([
  ['other.zone.', 'Cart.shop.other.zone.', 'Cart.shop.cluster.local.'],
  ['other.zone.', 'other.zone.', 'cluster.local.'],
  ['.', 'cart.shop.', 'cart.shop.cluster.local.'],
  ['.', '.', 'cluster.local.'],
])('moves names of the zone %s to the cluster and back', (zone, outside, inside) => {
  const { toCluster, fromCluster } = translateZone(zone === '.' ? ROOT : key(zone), key('cluster.local.'));
  expect(toCluster(parseName(outside))).toBe(inside);
  const moved = fromCluster([record(inside, { kind: 'A', address: '192.0.2.1' })]);
  expect(moved[0]?.name).toBe(outside);
});

it('moves targets, but not those of aliases', () => {
  const { fromCluster } = translateZone(key('other.zone.'), key('cluster.local.'));
  const target = parseName('x.cluster.local.');
  const srv = { kind: 'SRV', priority: 0, weight: 1, port: 2, target } as const;
  const moved = fromCluster([
    record('a.cluster.local.', srv),
    record('b.cluster.local.', { kind: 'CNAME', target }),
  ]);
  expect(moved.map(presentRecord)).toEqual([
    'a.other.zone. 30 IN SRV 0 1 2 x.other.zone.',
    'b.other.zone. 30 IN CNAME x.cluster.local.',
  ]);
});
