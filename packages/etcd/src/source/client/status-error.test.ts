import { expect, it } from 'vitest';
import { toStatusError } from './status-error.ts';

it.each([
  [16, '', 'unauthenticated'],
  [3, 'etcdserver: authentication failed, invalid user ID or password', 'unauthenticated'],
  [3, 'etcdserver: duplicate key given in txn request', 'refused'],
  [7, 'etcdserver: permission denied', 'denied'],
  [11, 'etcdserver: mvcc: required revision has been compacted', 'compacted'],
  [8, 'grpc: received message larger than max (5 vs. 4)', 'too-large'],
  [8, 'etcdserver: too many requests', 'refused'],
  [14, 'etcdserver: no leader', 'unavailable'],
  [12, 'unknown method', 'refused'],
] as const)('%i %s is %s', (code, details, failure) => {
  expect(toStatusError('http://a:2379', { code, details })).toMatchObject({ failure });
});
