/**
 * The reply of a path on an HTTP port.
 */
export const PLAIN_TEXT = 'text/plain; charset=utf-8';

export interface HttpReply {
  readonly status: number;
  /** The media type, including the character set. */
  readonly type: string;
  /** An iterable is sent in pieces, each after the client has read the previous one. */
  readonly body: string | Uint8Array | AsyncIterable<string>;
}

/** Handles one path. Errors are logged, and the client gets 500 without the reason. */
export type HttpRoute = (query: URLSearchParams) => HttpReply | Promise<HttpReply>;
