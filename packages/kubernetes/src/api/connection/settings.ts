/**
 * All settings needed to reach one API server, from any source.
 */

/** Octets that may change while we run: a file that is rotated. */
export interface ByteSource {
  /** @throws {Error} if there is nothing to read */
  read(): Promise<Buffer>;
  /** Makes the next call of `read` read again. */
  expire(): void;
}

/** Credentials from a plugin or another external authority for one request. */
export interface ExternalAuthentication {
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate: { readonly certificate: Buffer; readonly key: Buffer } | undefined;
}

export interface ExternalCredentials {
  authenticate(): Promise<ExternalAuthentication>;
  expire(): void;
}

/** Our credentials. Several may be set together; the API server decides which it uses. */
export interface UserSettings {
  readonly token?: ByteSource | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly certificate?: { readonly certificate: ByteSource; readonly key: ByteSource } | undefined;
  readonly external?: ExternalCredentials | undefined;
  /** Impersonation. A list is sent as one header line per value. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
}

export interface ConnectionSettings {
  /** `http:` or `https:`. Over `http:` no credentials are sent, as with kubectl. */
  readonly server: URL;
  /** Origin of these settings, for messages. */
  readonly source: string;
  readonly authority?: ByteSource | undefined;
  /** False for `insecure-skip-tls-verify`. */
  readonly verify: boolean;
  /** The name to expect in the server's certificate instead of its address. */
  readonly tlsServerName?: string | undefined;
  /** Whether large answers may come compressed: over a slow network that is faster, at the cost of processor time on both sides. */
  readonly compresses?: boolean | undefined;
  readonly user: UserSettings;
  readonly proxy?: URL | undefined;
}
