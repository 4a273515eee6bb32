/**
 * The addresses that a server block listens on.
 */
export interface BindOptions {
  /** Addresses in the order given, those of interfaces in their place, with a zone (`%eth0`) where they need one. */
  readonly addresses: readonly string[];
}
