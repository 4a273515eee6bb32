/**
 * The addresses that a server block listens on.
 */
export interface BindOptions {
  /** Addresses in the order given, with interfaces replaced by their addresses, and a zone (`%eth0`) where needed. */
  readonly addresses: readonly string[];
}
