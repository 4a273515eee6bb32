/**
 * Errors between this program and an API server. Their messages never contain a credential.
 */

/** A request had no answer. */
export class RequestError extends Error {
  readonly path: string;
  /**
   * `credentials`: credentials were missing, so no request was sent. `unreachable`: no connection was established, so the
   * server had no work.
   */
  readonly reason: 'network' | 'unreachable' | 'credentials';

  constructor(path: string, reason: RequestError['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RequestError';
    this.path = path;
    this.reason = reason;
  }
}

/** The configuration of the way to the cluster is invalid. */
export class ClusterConfigurationError extends Error {
  /** The file at fault, if it is one. */
  readonly file: string | undefined;
  /** The field in it, such as `users["admin"].user.token`. */
  readonly field: string | undefined;

  constructor(message: string, file?: string, field?: string) {
    super(message);
    this.name = 'ClusterConfigurationError';
    this.file = file;
    this.field = field;
  }
}
