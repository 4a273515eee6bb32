/**
 * Settings to reach an etcd cluster, from flags and directives.
 */
import { readFile } from 'node:fs/promises';
import type { EtcdEndpoint } from './endpoints.ts';

/** Files in PEM format, read for each connection, so that renewed certificates take effect. */
export interface TlsFiles {
  /** The certificate of this client and its key: both or neither. */
  readonly certificate?: string;
  readonly key?: string;
  /** The CAs of etcd's certificates. Default: those of Node.js. */
  readonly authority?: string;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface EtcdSettings {
  /** At least one. */
  readonly endpoints: readonly EtcdEndpoint[];
  readonly tls?: TlsFiles;
  readonly credentials?: Credentials;
}

export interface TlsContents {
  readonly certificate: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly authority: Buffer | undefined;
}

/** @throws Error if a file cannot be read */
export async function readTlsFiles({ certificate, key, authority }: TlsFiles): Promise<TlsContents> {
  const read = async (path: string | undefined) => (path === undefined ? undefined : await readFile(path));
  return { certificate: await read(certificate), key: await read(key), authority: await read(authority) };
}
