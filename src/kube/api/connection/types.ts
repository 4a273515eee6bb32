/**
 * What the rest of the program sees of an API server: requests, whose answers are streams of octets.
 */
export interface RequestOptions {
  /** GET unless another is named. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** What is sent with it. */
  readonly body?: string;
  /** Ends the request and its answer, whatever their state. */
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds until a new connection must stand, TLS included. */
  readonly connectTimeout?: number;
  /** Milliseconds until the head of the answer must be there. The body has no limit of its own. */
  readonly timeout?: number;
}

export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Read to its end, the connection is used again; left early, it is closed. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection without reading on. */
  discard(): void;
}

export interface Connection {
  readonly kind: 'connection';
  /** The address of the API server, without credentials. */
  readonly server: string;
  /** Where the address comes from: `in-cluster`, or the kubeconfig and its context. */
  readonly source: string;
  /**
   * Sends a request, a GET unless another method is named.
   * @param path with query, below the server's address
   * @throws {RequestError} if no answer came; a refusal is an answer
   */
  request(path: string, options?: RequestOptions): Promise<ApiResponse>;
  /** Tokens, certificates and plugins are asked anew at the next request: they may have changed. */
  refreshCredentials(): void;
  /** Closes idle connections. Requests under way are ended by their signals. */
  close(): void;
}
