/**
 * Names of class CHAOS that tell about the server: version.bind, authors.bind, hostname.bind and their like.
 */
export interface ChaosOptions {
  /** Nothing: our own. At most 255 characters. */
  readonly version: string | undefined;
  /** Sorted, each once. Nothing: our own. */
  readonly authors: readonly string[] | undefined;
}
