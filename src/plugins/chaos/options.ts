/**
 * Names of class CHAOS that describe the server: version.bind, authors.bind, hostname.bind and similar ones.
 */
export interface ChaosOptions {
  /** At most 255 characters. Undefined: our own. */
  readonly version: string | undefined;
  /** Sorted, without duplicates. Undefined: our own. */
  readonly authors: readonly string[] | undefined;
}
