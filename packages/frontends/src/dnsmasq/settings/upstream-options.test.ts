import { expect, it } from 'vitest';
import { readNotes, readPlan, readProblems } from './testing/read-plan.ts';

it.each([
  ['resolv-file=/a', { resolvFiles: ['/a'] }],
  ['resolv-file=/a\nresolv-file=/b', { resolvFiles: ['/a', '/b'] }],
  ['resolv-file', { resolvFiles: [] }],
  ['resolv-file\nresolv-file=/a', { resolvFiles: ['/a'] }],
  ['no-resolv', { resolvFiles: [] }],
  ['no-poll', { followsResolvFiles: false }],
  ['servers-file=/s', { serversFile: '/s' }],
  ['strict-order', { choice: 'in-order' }],
  ['all-servers\nstrict-order', { choice: 'all' }],
  ['dns-loop-detect', { detectsLoops: true }],
  ['domain-needed\nbogus-priv', { keepsPlainNames: true, keepsPrivateReverse: true }],
  ['query-port=5000', { sourcePorts: { kind: 'fixed', port: 5000 } }],
  ['query-port=0\nmin-port=2000', { sourcePorts: { kind: 'fixed', port: 0 } }],
  ['min-port=2000', { sourcePorts: { kind: 'random', min: 2000, max: 65_535 } }],
  ['max-port=2000', { sourcePorts: { kind: 'random', min: 1024, max: 2000 } }],
  ['port-limit=3', { portLimit: 3 }],
  ['dns-forward-max=10', { forwardMax: 10 }],
  ['fast-dns-retry', { retry: { after: 1000, until: 10_000 } }],
  ['fast-dns-retry=500', { retry: { after: 500, until: 10_000 } }],
  ['fast-dns-retry=500,3000', { retry: { after: 500, until: 3000 } }],
])('%j', (lines, upstreams) => {
  expect(readPlan(lines).upstreams).toMatchObject(upstreams);
});

it('tells that a resolv file has no effect where none is read', () => {
  expect(readNotes('no-resolv\nresolv-file=/a')).toEqual(['It has no effect beside --no-resolv.']);
});

it.each(['query-port=x', 'port-limit=0', 'dns-forward-max=x', 'fast-dns-retry=49', 'fast-dns-retry=100,x'])(
  '%s is refused',
  (line) => {
    expect(readProblems(line)).toHaveLength(1);
  },
);
