/**
 * Access rules for queries.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';

export interface AclOptions {
  /** Tried from the first to the last. */
  readonly rules: readonly AclRule[];
}

export interface AclRule {
  /** Names below one of these are subject to the rule. */
  readonly zones: readonly NameKey[];
  /** The first policy that fits decides. Default: allowed. */
  readonly policies: readonly AclPolicy[];
}

export interface AclPolicy {
  /** `block`: REFUSED with extended error 15. `filter`: an empty answer with extended error 17. `drop`: no answer. */
  readonly action: 'allow' | 'block' | 'filter' | 'drop';
  /** Numbers of types. */
  readonly types: 'all' | readonly number[];
  readonly clients: 'all' | readonly AddressRange[];
}
