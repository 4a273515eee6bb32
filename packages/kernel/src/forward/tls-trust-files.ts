/**
 * The certificates of a client of TLS, from files that are followed: certificates and authorities are renewed while servers run, as the
 * bundle of a ClusterTrustBundle in a volume.
 */
import { readFileSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import { readFileVersions } from '../base/file-version.ts';
import type { Log } from '../base/log.ts';
import type { TlsCertificates, TlsTrust } from './transport/tls-socket.ts';

/** Paths of PEM files. */
export interface TlsTrustPaths {
  readonly authorities?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export interface TlsTrustFilesOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds between two looks at the files, which only new connections cause. */
const LOOK_INTERVAL = 10_000;

/** Loaded when files have changed: a connection has loaded it then. */
const loadTls = () => process.getBuiltinModule('node:tls');

export class TlsTrustFiles implements TlsTrust {
  readonly #paths: TlsTrustPaths;
  readonly #options: TlsTrustFilesOptions;
  #certificates: TlsCertificates;
  #version: string;
  #lookedAt: number;

  /** @throws Error where a file cannot be read */
  constructor(paths: TlsTrustPaths, options: TlsTrustFilesOptions) {
    this.#paths = paths;
    this.#options = options;
    this.#version = this.#readVersion();
    this.#lookedAt = options.clock.monotonic();
    this.#certificates = readCertificates(paths);
  }

  /** Those of the files. While changed files cannot be used, the former ones. */
  get certificates(): TlsCertificates {
    const now = this.#options.clock.monotonic();
    if (now - this.#lookedAt >= LOOK_INTERVAL) {
      this.#lookedAt = now;
      this.#look();
    }
    return this.#certificates;
  }

  #look(): void {
    const version = this.#readVersion();
    if (version === this.#version) return;
    this.#version = version;
    try {
      const next = readCertificates(this.#paths);
      checkCertificates(next);
      this.#certificates = next;
    } catch (error) {
      this.#options.log.warn('changed certificates for upstream servers are not used', {
        files: this.#list().join(' '),
        reason: describeError(error),
      });
    }
  }

  #readVersion(): string {
    return readFileVersions(this.#list());
  }

  #list(): readonly string[] {
    const { authorities, certificate, key } = this.#paths;
    return [authorities, certificate, key].filter((path) => path !== undefined);
  }
}

function readCertificates({ authorities, certificate, key }: TlsTrustPaths): TlsCertificates {
  const read = (path: string) => readFileSync(path, 'utf8');
  return {
    authorities: authorities === undefined ? undefined : [read(authorities)],
    own:
      certificate === undefined || key === undefined
        ? undefined
        : { certificate: read(certificate), key: read(key) },
  };
}

/** A certificate may have changed before its key, and a file may be half written. @throws Error with the reason */
function checkCertificates({ authorities, own }: TlsCertificates): void {
  const [bundle] = authorities ?? [];
  // OpenSSL passes over what it cannot read, and would trust nobody.
  if (bundle !== undefined && !isWholeBundle(bundle)) throw new Error('no whole certificate of an authority');
  loadTls().createSecureContext({
    ...(bundle !== undefined && { ca: bundle }),
    ...(own !== undefined && { cert: own.certificate, key: own.key }),
  });
}

function isWholeBundle(bundle: string): boolean {
  const [begun, ended] = ['BEGIN', 'END'].map((word) => bundle.split(`-----${word} `).length - 1);
  return begun !== undefined && begun > 0 && begun === ended;
}
