/**
 * What a status of gRPC means for a client of etcd.
 */
import { CODE, type GrpcStatus } from '@portolan/kernel/base/grpc/grpc-status.ts';
import { EtcdError, type EtcdFailure } from './etcd-error.ts';

/** Cancelled, unknown, deadline, internal, unavailable, data loss: another member may answer. */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([1, 2, 4, 13, 14, 15]);

/** @param endpoint as configured */
export function toStatusError(endpoint: string, { code, details }: GrpcStatus): EtcdError {
  return new EtcdError(
    toFailure(code, details),
    `${endpoint}: ${details === '' ? `gRPC status ${code}` : details}`,
  );
}

function toFailure(code: number, details: string): EtcdFailure {
  if (code === CODE.UNAUTHENTICATED) return 'unauthenticated';
  if (code === CODE.DENIED) return 'denied';
  if (code === CODE.OUT_OF_RANGE) return 'compacted';
  if (code === CODE.EXHAUSTED && /larger than max/i.test(details)) return 'too-large';
  const isOfUser = /user name|password|auth(entication)? (store|failed|token)/i.test(details);
  if (code === CODE.INVALID && isOfUser) return 'unauthenticated';
  return UNAVAILABLE_CODES.has(code) ? 'unavailable' : 'refused';
}
