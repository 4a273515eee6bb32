/**
 * Reasons why a call to etcd failed.
 */
import { describeError } from '@portolan/kernel/base/describe-error.ts';

/**
 * - `unavailable`: the endpoint is unreachable, does not answer in time, or its member has no leader;
 * - `unauthenticated`: the user, the password or the token are not accepted;
 * - `denied`: the user may not do this;
 * - `compacted`: the revision is no longer kept;
 * - `too-large`: the answer exceeds the message limit;
 * - `closed`: we ended the call;
 * - `refused`: any other error of etcd.
 */
export type EtcdFailure =
  | 'unavailable'
  | 'unauthenticated'
  | 'denied'
  | 'compacted'
  | 'too-large'
  | 'closed'
  | 'refused';

export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  readonly failure: EtcdFailure;

  constructor(failure: EtcdFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Converts any error to an EtcdError: an unknown error means that the endpoint cannot be used. */
export function toEtcdError(error: unknown): EtcdError {
  if (error instanceof EtcdError) return error;
  return new EtcdError('unavailable', describeError(error));
}
