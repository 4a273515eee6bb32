/**
 * Why a call to etcd failed.
 */

/**
 * - `unavailable`: the endpoint is not reached, does not answer in time, or its member has no leader;
 * - `unauthenticated`: the user, the password or the token are not accepted;
 * - `denied`: the user may not do this;
 * - `compacted`: the revision is not kept any more;
 * - `too-large`: the answer has more octets than are taken at once;
 * - `closed`: the call was ended from this side;
 * - `refused`: anything else that etcd says.
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

/** Any error as one of etcd: what is none of its own means that the endpoint cannot be used. */
export function toEtcdError(error: unknown): EtcdError {
  if (error instanceof EtcdError) return error;
  return new EtcdError('unavailable', error instanceof Error ? error.message : String(error));
}
