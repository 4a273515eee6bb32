import type { ServerStatus } from '@portolan/ops/control/status.ts';
import { expect, it } from 'vitest';
import { findNothing, findRender } from './control-text.ts';

const STATUS: ServerStatus = {
  version: '0.2.0',
  role: 'serve',
  process: 7,
  addresses: ['127.0.0.1:53', '[::1]:53'],
  ready: false,
  reason: 'services: waiting',
  queries: 12,
  data: {
    age: 1_500,
    kinds: [
      { kind: 'services', state: 'waiting', age: undefined, objects: 0, lists: 0, words: '403 forbidden' },
    ],
  },
  zones: [{ domain: 'cluster.local.', services: 8, digest: '7d99' }],
  configuration: { isLastGood: true, rejected: ['line 3: unknown'], changes: 2, changedAt: undefined },
  upstreams: [
    {
      server: '10.0.0.2:53',
      state: 'failing',
      since: 200_000,
      lastReply: undefined,
      roundTrip: undefined,
      sent: 3,
      timeouts: 2,
      errors: 0,
    },
  ],
  cache: { entries: 4, names: 5 },
  readers: { running: 1, down: 0, kernelDrops: 9 },
  statistics: { isKept: false, sampling: 4 },
  logs: { level: 'info', queryLog: undefined, lost: undefined },
};

it('shows a status as rows that one reads', () => {
  expect(findRender(['status'])(STATUS).split('\n')).toEqual([
    'server         serve 0.2.0, process 7',
    'listens on     127.0.0.1:53 [::1]:53',
    'ready          no: services: waiting',
    'queries        12',
    'cluster data   current 1.5s ago',
    'services       waiting, 0 objects, 403 forbidden',
    'zone           cluster.local., 8 services, digest 7d99',
    'upstream       10.0.0.2:53 failing for 3m20s, no reply yet, 3 queries, 2 timeouts',
    'cache          4 answers; 5 names of zones',
    'readers        1 running, 9 packets dropped by the kernel',
    'configuration  the last good one; the latest has errors, 2 changes, line 3: unknown',
    'statistics     counted while somebody looks, one query of 4',
    'log            level info, query log off',
    '',
  ]);
});

it('shows of a change what has changed', () => {
  expect(findRender(['query-log', 'off'])(STATUS)).toBe('query log  off\n');
  expect(findRender(['log-level', 'info'])(STATUS)).toBe('log level  info\n');
  const switched = { upstream: '10.0.0.2:53', state: 'off', rules: 2 };
  expect(findRender(['upstream', '10.0.0.2:53', 'off'])(switched)).toBe(
    'upstream server 10.0.0.2:53 is off in 2 places\n',
  );
  expect(findRender(['cache', 'flush', 'a.example'])({ flushed: 'a.example.', before: 3, after: 1 })).toBe(
    'flushed a.example.: 3 cached answers before, 1 now\n',
  );
});

it('shows services, and those that appeared and disappeared', () => {
  const zone = { domain: 'cluster.local.', services: 8, digest: '7d99' };
  const buckets = { ...zone, former: [{ digest: '11aa', age: 2_000 }], buckets: ['0', '1'] };
  expect(findRender(['names'])(buckets)).toBe(
    'cluster.local., 8 services, digest 7d99\n  digest 11aa until 2s ago\n',
  );
  const name = { domain: 'cluster.local.', name: 'cart.shop', hash: 'b34f' };
  expect(findRender(['names', '3f'])(name)).toBe('cart.shop  b34f\n');
  const change = {
    at: '2026-01-01T00:00:00.000Z',
    domain: 'cluster.local.',
    name: 'cart.shop',
    change: 'went',
  };
  expect(findRender(['changes'])(change)).toBe(
    '2026-01-01T00:00:00.000Z  cart.shop.svc.cluster.local.  disappeared\n',
  );
  expect(findNothing(['changes'])).toMatch(/^no service appeared/);
});
