/**
 * The certificates of a client of TLS, from files.
 */
import { readFileSync } from 'node:fs';
import type { TlsTrust } from './transport/tls-socket.ts';

/** Paths of PEM files. */
export interface TlsTrustFiles {
  readonly authorities?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** @throws Error where a file cannot be read */
export function readTlsTrust({ authorities, certificate, key }: TlsTrustFiles): TlsTrust {
  const read = (path: string) => readFileSync(path, 'utf8');
  return {
    authorities: authorities === undefined ? undefined : [read(authorities)],
    own:
      certificate === undefined || key === undefined
        ? undefined
        : { certificate: read(certificate), key: read(key) },
  };
}
