import { expect, it } from 'vitest';
import { faultOfResponse, readGrpcStatus } from './grpc-status.ts';

it('reads a status from trailers, with a message in percent-encoding', () => {
  expect(readGrpcStatus({ 'grpc-status': '0' })).toEqual({ code: 0, details: '' });
  expect(readGrpcStatus({ 'grpc-status': '14', 'grpc-message': 'no leader: %E2%82%AC 100% %zz' })).toEqual({
    code: 14,
    details: 'no leader: € 100% %zz',
  });
  expect(readGrpcStatus({})).toBeUndefined();
  expect(readGrpcStatus({ 'grpc-status': 'x' })).toBeUndefined();
  expect(readGrpcStatus({ 'grpc-status': '9'.repeat(400) })).toBeUndefined();
});

it('takes the status of HTTP where a server does not speak gRPC', () => {
  expect(faultOfResponse(200, 'application/grpc+proto')).toBeUndefined();
  expect(faultOfResponse(200, 'text/html')?.code).toBe(2);
  expect(faultOfResponse(503)).toEqual({ code: 14, details: 'HTTP status 503' });
  expect(faultOfResponse(418)?.code).toBe(2);
});
