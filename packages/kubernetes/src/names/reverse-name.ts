/**
 * A PTR record of an address, as a value.
 */
import type { NameKey } from '@portolan/dns/types.ts';

/** A name that an address maps to. */
export interface ReverseName {
  /** Canonical. */
  readonly address: string;
  readonly target: NameKey;
  /** Names of services go before names of endpoints. */
  readonly isService: boolean;
}
