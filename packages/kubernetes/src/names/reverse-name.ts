/**
 * The reverse tree: a PTR record of an address, as a value, and the two trees.
 */
import type { NameKey } from '@portolan/dns/types.ts';

/** All addresses of IPv4, and all of IPv6. */
export const REVERSE_TREES: readonly NameKey[] = ['in-addr.arpa.' as NameKey, 'ip6.arpa.' as NameKey]; // Canonical by inspection.

/** A name that an address maps to. */
export interface ReverseName {
  /** Canonical. */
  readonly address: string;
  readonly target: NameKey;
  /** Names of services go before names of endpoints. */
  readonly isService: boolean;
}
