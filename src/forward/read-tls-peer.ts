/**
 * What a client of TLS knows of its server and of itself, from files.
 */
import { readFileSync } from 'node:fs';
import { describeOtherName } from './network-errors.ts';
import type { TlsPeer } from './transport/stream-transport.ts';

/** Paths of PEM files. */
export interface TlsPeerFiles {
  readonly authorities?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** @param serverName of the certificate; undefined: the address @throws Error where a file cannot be read */
export function readTlsPeer(
  serverName: string | undefined,
  { authorities, certificate, key }: TlsPeerFiles,
): TlsPeer {
  const read = (path: string) => readFileSync(path, 'utf8');
  return {
    ...{ serverName, describeOtherName },
    authorities: authorities === undefined ? undefined : [read(authorities)],
    own:
      certificate === undefined || key === undefined
        ? undefined
        : { certificate: read(certificate), key: read(key) },
  };
}
