/**
 * One request of OTLP over HTTP. Redirects are not followed, and responses are not read.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { OtlpSettings } from '../../settings/otlp/otlp-settings.ts';
import type { Post } from './otlp-exporter.ts';

export function postTo(endpoint: URL, { headers, timeout }: Pick<OtlpSettings, 'headers' | 'timeout'>): Post {
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
