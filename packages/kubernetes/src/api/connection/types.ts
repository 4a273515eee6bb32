/**
 * The interface to an API server for the rest of the program: requests whose answers are streams of octets.
 */
export interface RequestOptions {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The body of the request. */
  readonly body?: string;
  /** Ends the request and its answer, whatever their state. */
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout of a new connection in milliseconds, TLS included. */
  readonly connectTimeout?: number;
  /** Timeout of the head of the answer in milliseconds. The body has no timeout of its own. */
  readonly timeout?: number;
}

export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** After the body is read to its end, the connection is used again; otherwise it is closed. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection without reading on. */
  discard(): void;
}

export interface Connection {
  readonly kind: 'connection';
  /** The address of the API server, without credentials. */
  readonly server: string;
  /** Origin of the address: `in-cluster`, or the kubeconfig and its context. */
  readonly source: string;
  /**
   * Sends a request, by default a GET.
   * @param path with query, below the server's address
   * @throws {RequestError} without an answer; a refusal is an answer
   */
  request(path: string, options?: RequestOptions): Promise<ApiResponse>;
  /** The next request reads tokens, certificates and plugins again: they may have changed. */
  refreshCredentials(): void;
  /** Closes idle connections. Signals end the requests under way. */
  close(): void;
}
