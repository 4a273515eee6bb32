/**
 * The names that a certificate is valid for, as clients verify them.
 */
import { X509Certificate } from 'node:crypto';
import { tryParseName } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';

/** Names of a certificate that are looked at: each may be looked up for a query. */
const MAX_NAMES = 8;

/** The host name of this machine itself, which means another one to each client. */
const LOCALHOST = /^(?:.*\.)?localhost$/i;

export type CertificateNames =
  /** At least one. */
  | {
      readonly kind: 'named';
      readonly names: readonly AbsoluteName[];
      readonly from: number;
      readonly until: number;
    }
  | { readonly kind: 'nameless'; readonly fault: string };

/**
 * @param pem the certificate, before those of its chain
 * @param wanted the only name to use; undefined: all names, without those with a wildcard
 * @throws Error if it is not a certificate
 */
export function readCertificateNames(pem: Buffer, wanted: AbsoluteName | undefined): CertificateNames {
  const certificate = new X509Certificate(pem);
  const candidates = wanted === undefined ? listHosts(certificate) : [wanted.slice(0, -1)];
  const valid = candidates.filter((host) => certificate.checkHost(host) !== undefined);
  const names = valid.flatMap((host) => tryParseName(`${host}.`) ?? []).slice(0, MAX_NAMES);
  if (names.length > 0) {
    const { validFrom, validTo } = certificate;
    return { kind: 'named', names, from: Date.parse(validFrom), until: Date.parse(validTo) };
  }
  const fault =
    wanted === undefined
      ? 'its certificate has no name that clients can look up'
      : `its certificate is not valid for ${wanted}`;
  return { kind: 'nameless', fault };
}

function listHosts({ subjectAltName = '' }: X509Certificate): readonly string[] {
  const hosts = subjectAltName.split(', ').flatMap((part) => /^DNS:([\w.-]+)$/.exec(part)?.[1] ?? []);
  return hosts.filter((host) => !LOCALHOST.test(host));
}
