/**
 * Certificate and key of encrypted listeners, and the certificates of their clients.
 */
import type { ClientAuthentication } from './tls-identity.ts';

export interface TlsOptions {
  /** The path of the certificate with its chain. */
  readonly certificate: string;
  /** The path of its private key. */
  readonly key: string;
  /** The path of the authorities of client certificates; undefined: those of Node. */
  readonly authorities: string | undefined;
  readonly clientAuthentication: ClientAuthentication;
  /** The file to which the keys of sessions are appended; undefined: nowhere. */
  readonly keyLog: string | undefined;
}
