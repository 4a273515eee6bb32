import { toDnsmasqServer } from '@portolan/plugins/chaos/server-statistics.ts';
import { expect, it } from 'vitest';
import { describeStatistics } from './statistics.ts';

it.each([
  ['192.0.2.1:53', '192.0.2.1#53'],
  ['[2001:db8::1]:5353', '2001:db8::1#5353'],
  ['192.0.2.1:53@eth0@10.0.0.1#99', '192.0.2.1#53'],
  ['dns.example:53', 'dns.example#53'],
])('%s is %s to dnsmasq', (upstream, server) => {
  expect(toDnsmasqServer(upstream)).toBe(server);
});

it('speaks as dnsmasq does', () => {
  const stats = { cacheSize: 150, insertions: 5, evictions: 2, misses: 7, hits: 9, stale: 1 };
  const server = { server: '192.0.2.1#53', queries: 7, retried: 1, failed: 2, nxdomain: 3, latency: 12 };
  const rest = { inFlight: 4, cacheOctets: 1000, connections: 1, maxConnections: 20, servers: [server] };
  expect(describeStatistics({ ...stats, ...rest }, 1_700_000_000)).toEqual([
    'time 1700000000',
    'cache size 150, 2/5 cache insertions re-used unexpired cache entries.',
    'queries forwarded 7, queries answered locally 9',
    'queries answered from stale cache 1',
    'queries for authoritative zones 0',
    'pool memory in use 1000, questions under way 4',
    'TCP connections: in use 1, max allowed 20.',
    'server 192.0.2.1#53: queries sent 7, retried 1, failed 2, nxdomain replies 3, avg. latency 12ms',
  ]);
});
