/**
 * Reads the files of `tls`.
 */
import { findMeaning } from '@portolan/kernel/base/system-errors.ts';
import type { TlsIdentity, TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';
import { checkIdentity } from '@portolan/kernel/listen/secure/tls-server.ts';

/**
 * @param read the octets or the text of a file
 * @throws Error with the reason: a file cannot be read, or certificate and key do not fit
 */
export function readIdentity(
  { certificate, key, authorities, clientAuthentication }: TlsOptions,
  read: (path: string) => Buffer | string,
): TlsIdentity {
  const readOctets = (path: string): Buffer => {
    try {
      return Buffer.from(read(path));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = findMeaning(code);
      throw new Error(reason === undefined ? message : `open ${path}: ${reason}`);
    }
  };
  const identity: TlsIdentity = {
    certificate: readOctets(certificate),
    key: readOctets(key),
    authorities: authorities === undefined ? undefined : readOctets(authorities),
    clientAuthentication,
  };
  checkIdentity(identity);
  return identity;
}
