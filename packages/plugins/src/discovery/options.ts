/**
 * Discovery of encrypted listeners by clients of plain DNS (RFC 9462).
 */
import type { AbsoluteName } from '@portolan/dns/types.ts';
import type { TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';

export interface DiscoveryOptions {
  /** The name that clients verify. Undefined: the first name in the certificate of a listener that has an address. */
  readonly name: AbsoluteName | undefined;
  /** Those that answer as this block does. */
  readonly listeners: readonly EncryptedListener[];
}

export interface EncryptedListener {
  /** `tls://:853`, as in metrics. */
  readonly server: string;
  readonly scheme: 'tls' | 'https';
  /** Where it listens; empty: on all addresses. */
  readonly address: string;
  /** 1 to 65535. */
  readonly port: number;
  readonly tls: TlsOptions;
}
