/**
 * What can fail between this program and an API server. No message holds a credential.
 */

/** A request had no answer. */
export class RequestError extends Error {
  readonly path: string;
  /**
   * `credentials`: there was nothing to authenticate with, so nothing was sent. `unreachable`: no connection was made, so
   * the server had no work with it.
   */
  readonly reason: 'network' | 'unreachable' | 'credentials';

  constructor(path: string, reason: RequestError['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'RequestError';
    this.path = path;
    this.reason = reason;
  }
}

/** The way to the cluster is not configured as it must be. */
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
