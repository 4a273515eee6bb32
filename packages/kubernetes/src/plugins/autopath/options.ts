/**
 * Searches in place of clients.
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface AutopathOptions {
  /** Only questions within these zones are searched for. */
  readonly zones: readonly NameKey[];
  readonly source: AutopathSource;
}

export type AutopathSource =
  /** The search domains of all clients. */
  | { readonly kind: 'domains'; readonly domains: readonly NameKey[] }
  /** A plugin of the block that knows those of each client. */
  | { readonly kind: 'plugin'; readonly name: string };
