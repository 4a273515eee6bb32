/**
 * The test certificates in `tls/`, made by `tls/make-certificates.sh`.
 */
import { readFileSync } from 'node:fs';
import type { ServerOptions } from 'node:https';

/** `mutual` takes a client certificate if one is shown; who shows none needs a token. */
export type TlsMode = 'none' | 'server' | 'mutual';

export function tlsFixturePath(name: string): string {
  return new URL(`./tls/${name}`, import.meta.url).pathname;
}

export function readTlsFixture(mode: TlsMode): ServerOptions {
  return {
    key: readFileSync(tlsFixturePath('server.key')),
    cert: readFileSync(tlsFixturePath('server.crt')),
    ...(mode === 'mutual'
      ? { ca: readFileSync(tlsFixturePath('authority.crt')), requestCert: true, rejectUnauthorized: false }
      : {}),
  };
}
