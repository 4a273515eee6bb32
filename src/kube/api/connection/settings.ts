/**
 * All that is needed to reach one API server, wherever it was found.
 */

/** Octets that may change while we run: a file that is rotated. */
export interface ByteSource {
  /** @throws {Error} if there is nothing to read */
  read(): Promise<Buffer>;
  /** Reads anew at the next call. */
  expire(): void;
}

/** What a plugin or another outside authority gives for one request. */
export interface ExternalAuthentication {
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate: { readonly certificate: Buffer; readonly key: Buffer } | undefined;
}

export interface ExternalCredentials {
  authenticate(): Promise<ExternalAuthentication>;
  expire(): void;
}

/** Who we say we are. Several may be given together; the API server decides by which it knows us. */
export interface UserSettings {
  readonly token?: ByteSource | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly certificate?: { readonly certificate: ByteSource; readonly key: ByteSource } | undefined;
  readonly external?: ExternalCredentials | undefined;
  /** Impersonation. A list is sent as one header line per value. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
}

export interface ClusterSettings {
  /** `http:` or `https:`. Over `http:` no credentials are sent, as with kubectl. */
  readonly server: URL;
  /** Where these settings come from, for people. */
  readonly source: string;
  readonly authority?: ByteSource | undefined;
  /** False for `insecure-skip-tls-verify`. */
  readonly verify: boolean;
  /** The name to expect in the server's certificate instead of its address. */
  readonly tlsServerName?: string | undefined;
  readonly user: UserSettings;
  readonly proxy?: URL | undefined;
}
