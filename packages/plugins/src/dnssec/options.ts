/**
 * Answers that are signed while they are served.
 */
import type { KeyPair } from '@portolan/dns/dnssec/signing-key.ts';
import type { NameKey } from '@portolan/dns/types.ts';

export interface DnssecOptions {
  /** Answers about names in these zones are signed. */
  readonly zones: readonly NameKey[];
  readonly keys: readonly NamedKeyPair[];
  /** How many sets of records have their signatures kept. */
  readonly capacity: number;
}

/** A pair of keys as its files have it. */
export interface NamedKeyPair extends KeyPair {
  /** The zone that it was made for. */
  readonly owner: NameKey;
  /** Seconds, of the DNSKEY record. */
  readonly ttl: number;
}
