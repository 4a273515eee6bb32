import { expect, it } from 'vitest';
import { readNotes, readPlan, readProblems } from './testing/read-plan.ts';

it.each([
  ['cache-size=1000', { size: 1000 }],
  ['cache-size=0', { size: 0 }],
  ['cache-size=', { size: 0 }],
  ['cache-size=9000000', { size: 5_000_000 }],
  ['no-negcache', { negatives: false }],
  ['neg-ttl=60', { negativeTtl: 60 }],
  ['max-ttl=61', { maxTtl: 61 }],
  ['max-cache-ttl=62', { maxCacheTtl: 62 }],
  ['min-cache-ttl=63', { minCacheTtl: 63 }],
  ['min-cache-ttl=7200', { minCacheTtl: 3600 }],
  ['use-stale-cache', { stale: 86_400 }],
  ['use-stale-cache=0', { stale: 'forever' }],
  ['use-stale-cache=60', { stale: 60 }],
  ['cache-rr=TXT,MX\ncache-rr=ANY', { moreTypes: [16, 15, 255] }],
  ['clear-on-reload', { clearsOnReload: true }],
  ['no-round-robin', { rotatesAddresses: false }],
])('%s', (lines, cache) => {
  expect(readPlan(lines).cache).toMatchObject(cache);
});

it('tells where less is used than was given', () => {
  expect(readNotes('cache-size=9000000\nmin-cache-ttl=7200')).toEqual([
    'No more than 5000000 entries are kept, as in dnsmasq.',
    'No more than 3600 seconds are used, as in dnsmasq.',
  ]);
});

it.each([
  'cache-size',
  'cache-size=-1',
  'neg-ttl=1h',
  'max-ttl=2147483648',
  'use-stale-cache=x',
  'cache-rr=x',
])('%s is refused', (line) => {
  expect(readProblems(line)).toHaveLength(1);
});
