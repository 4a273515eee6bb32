/**
 * The credentials that a request carries, read for each request.
 */
import type { ByteSource, ConnectionSettings, ExternalAuthentication } from './settings.ts';

export interface Authentication {
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** For the TLS connection; empty over plain HTTP. */
  readonly tls: {
    readonly ca?: Buffer;
    readonly cert?: Buffer;
    readonly key?: Buffer;
    readonly rejectUnauthorized?: boolean;
    readonly servername?: string;
  };
}

/** @throws {Error} the error of a file or a plugin; messages never contain a credential */
export async function authenticate(settings: ConnectionSettings): Promise<Authentication> {
  if (settings.server.protocol !== 'https:') return { headers: {}, tls: {} };
  const { user, authority, tlsServerName } = settings;
  const external = await user.external?.authenticate();
  const ca = await authority?.read();
  const certificate = external?.certificate ?? (await readCertificate(user.certificate));
  return {
    headers: { ...user.headers, ...(await authorization(settings)), ...external?.headers },
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
      ...(settings.verify ? {} : { rejectUnauthorized: false }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    },
  };
}

/** Makes all sources read again. */
export function expireCredentials(settings: ConnectionSettings): void {
  const { token, certificate, external } = settings.user;
  token?.expire();
  certificate?.certificate.expire();
  certificate?.key.expire();
  external?.expire();
  settings.authority?.expire();
}

async function authorization({ user }: ConnectionSettings): Promise<Readonly<Record<string, string>>> {
  if (user.token !== undefined) {
    const token = (await user.token.read()).toString('utf8').trim();
    return token === '' ? {} : { authorization: `Bearer ${token}` };
  }
  if (user.basic === undefined) return {};
  const pair = Buffer.from(`${user.basic.username}:${user.basic.password}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}

async function readCertificate(
  source: { readonly certificate: ByteSource; readonly key: ByteSource } | undefined,
): Promise<ExternalAuthentication['certificate']> {
  if (source === undefined) return undefined;
  return { certificate: await source.certificate.read(), key: await source.key.read() };
}
