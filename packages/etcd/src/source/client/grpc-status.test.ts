import { describe, expect, it } from 'vitest';
import { faultOfResponse, readGrpcStatus, toStatusError } from './grpc-status.ts';

describe('the status of a call', () => {
  it('is in the trailers, with a message in percent-encoding', () => {
    expect(readGrpcStatus({ 'grpc-status': '0' })).toEqual({ code: 0, details: '' });
    expect(readGrpcStatus({ 'grpc-status': '14', 'grpc-message': 'no leader: %E2%82%AC 100% %zz' })).toEqual({
      code: 14,
      details: 'no leader: € 100% %zz',
    });
    expect(readGrpcStatus({})).toBeUndefined();
    expect(readGrpcStatus({ 'grpc-status': 'x' })).toBeUndefined();
    expect(readGrpcStatus({ 'grpc-status': '9'.repeat(400) })).toBeUndefined();
  });

  it('is that of HTTP where a server does not speak gRPC', () => {
    expect(faultOfResponse(200, 'application/grpc+proto')).toBeUndefined();
    expect(faultOfResponse(200, 'text/html')?.code).toBe(2);
    expect(faultOfResponse(503)).toEqual({ code: 14, details: 'HTTP status 503' });
    expect(faultOfResponse(418)?.code).toBe(2);
  });

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
});
