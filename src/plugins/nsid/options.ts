/**
 * The identity of the server, for clients that ask for it (RFC 5001).
 */
export interface NsidOptions {
  /** Undefined: the name of the host. */
  readonly data: string | undefined;
}
