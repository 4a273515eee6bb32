/**
 * What a path of an HTTP port answers.
 */
export const PLAIN_TEXT = 'text/plain; charset=utf-8';

export interface HttpReply {
  readonly status: number;
  /** The media type, with its character set. */
  readonly type: string;
  /** An iterable is sent piece by piece, each after the client has read the one before. */
  readonly body: string | Uint8Array | AsyncIterable<string>;
}

/** Answers one path. What it throws is logged; the client gets 500 without the reason. */
export type HttpRoute = (query: URLSearchParams) => HttpReply | Promise<HttpReply>;
