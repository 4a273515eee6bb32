/**
 * Queries over HTTPS as requests (RFC 8484 section 4.1). The path is `/dns-query`.
 */
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import { OctetCollector } from '../../base/octet-collector.ts';
import type { HttpRequest, ResponseReader } from './http-requests.ts';

const MEDIA_TYPE = 'application/dns-message';
const PATH = '/dns-query';

export function makeHttpsRequest(method: 'POST' | 'GET', host: string, octets: Uint8Array): HttpRequest {
  const isPost = method === 'POST';
  const ofBody = { 'content-type': MEDIA_TYPE, 'content-length': octets.length };
  return {
    method,
    path: isPost ? PATH : `${PATH}?dns=${Buffer.from(octets).toString('base64url')}`,
    host,
    headers: { accept: MEDIA_TYPE, ...(isPost && ofBody) },
    body: isPost ? octets : undefined,
    createReader: () => new BodyReader(),
  };
}

/** The reply is the whole body of a response with status 200. */
class BodyReader implements ResponseReader {
  readonly #body = new OctetCollector();

  begin(status: number): string | undefined {
    return status === 200 ? undefined : `HTTP status ${status}`;
  }

  add(octets: Buffer): string | undefined {
    this.#body.add(octets);
    return this.#body.length <= MAX_MESSAGE_OCTETS ? undefined : 'response larger than a DNS message';
  }

  end(): undefined {
    return undefined;
  }

  take(): Uint8Array {
    return this.#body.octets;
  }
}
