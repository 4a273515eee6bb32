/**
 * Zone files that are signed.
 */
import type { KeyPair } from '@portolan/dns/dnssec/signing-key.ts';
import type { NameKey } from '@portolan/dns/types.ts';

export interface SignOptions {
  readonly zones: readonly SignedZone[];
}

export interface SignedZone {
  readonly origin: NameKey;
  /** The zone file, as given, behind the path of `root` if it is relative. */
  readonly path: string;
  /** Where the signed file is written: `db.example.org.signed`. */
  readonly signedPath: string;
  /** Each signs all records. */
  readonly keys: readonly KeyPair[];
}
