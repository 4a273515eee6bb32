/**
 * Requests with JSON to a collector, by HTTP. Redirects are not followed, and responses are not read.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** The status of a response, and its header `retry-after` in seconds. @throws Error when there is none */
export type Post = (
  body: string,
) => Promise<{ readonly status: number; readonly retryAfter: number | undefined }>;

export interface PostOptions {
  /** In addition to those of any request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that a request may take. */
  readonly timeout: number;
}

export function postTo(endpoint: URL, { headers, timeout }: PostOptions): Post {
  const open = endpoint.protocol === 'https:' ? requestHttps : requestHttp;
  return (body) =>
    new Promise((resolve, reject) => {
      const request = open(endpoint, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
        signal: AbortSignal.timeout(timeout),
      });
      request.on('response', (response) => {
        const retryAfter = /^\d{1,6}$/.exec(response.headers['retry-after'] ?? '')?.[0];
        response.destroy();
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
        });
      });
      request.on('error', reject);
      request.end(body);
    });
}
