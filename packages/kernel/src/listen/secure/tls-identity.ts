/**
 * How a listener shows itself over TLS, and what it demands of its clients.
 */
import { createHash } from 'node:crypto';
import type { PeerCertificate, SecureContextOptions } from 'node:tls';

/**
 * Whether clients show a certificate. `request`: asked for, and taken whatever it is. `require`: any certificate. `verify_if_given`:
 * none, or one that an authority has signed. `require_and_verify`: one that an authority has signed.
 */
export const CLIENT_AUTHENTICATIONS = [
  'nocert',
  'request',
  'require',
  'verify_if_given',
  'require_and_verify',
] as const;
export type ClientAuthentication = (typeof CLIENT_AUTHENTICATIONS)[number];

/** The files of `TlsIdentity`. */
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

export interface TlsIdentity {
  /** The certificate with its chain, in PEM form. */
  readonly certificate: Buffer;
  /** Its private key, in PEM form. */
  readonly key: Buffer;
  /** The authorities of client certificates, in PEM form; undefined: those of Node. */
  readonly authorities: Buffer | undefined;
  readonly clientAuthentication: ClientAuthentication;
}

/** @param ticketKeys 48 octets that encrypt session tickets */
export function toSecureContextOptions(identity: TlsIdentity, ticketKeys?: Buffer): SecureContextOptions {
  const { certificate, key, authorities, clientAuthentication } = identity;
  // A session of a client that was not verified must not be resumed where clients are verified.
  const scope = createHash('sha256')
    .update(`${clientAuthentication} `)
    .update(authorities ?? '')
    .digest('hex');
  return {
    cert: certificate,
    key,
    minVersion: 'TLSv1.2',
    sessionIdContext: scope.slice(0, 32),
    ...(authorities !== undefined && { ca: authorities }),
    ...(ticketKeys !== undefined && { ticketKeys }),
  };
}

/** @param isVerified whether an authority has signed the certificate */
export function isWelcome(
  authentication: ClientAuthentication,
  certificate: Pick<PeerCertificate, 'raw'> | undefined,
  isVerified: boolean,
): boolean {
  switch (authentication) {
    case 'nocert':
    case 'request':
      return true;
    case 'require':
      return certificate !== undefined;
    case 'verify_if_given':
      return certificate === undefined || isVerified;
    case 'require_and_verify':
      return certificate !== undefined && isVerified;
  }
}
