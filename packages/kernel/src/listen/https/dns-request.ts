/**
 * DNS messages in HTTP requests (RFC 8484 section 4.1), as CoreDNS takes them.
 */
import { isQuery } from '../exchanges/query-header.ts';

const PATH = '/dns-query';
export const DNS_MESSAGE = 'application/dns-message';

/** The head of a request: its method, and path with query. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** Of the body; undefined: not said. */
  readonly contentType: string | undefined;
}

export type RequestReading =
  | { readonly kind: 'message'; readonly message: Uint8Array }
  /** The message is the request's body. */
  | { readonly kind: 'body' }
  | { readonly kind: 'refused'; readonly status: 400 | 404 | 415 };

const BAD: RequestReading = { kind: 'refused', status: 400 };

export function readRequest({ method, target, contentType }: RequestHead): RequestReading {
  const [path = '', ...rest] = target.split('?');
  if (path !== PATH) return { kind: 'refused', status: 404 };
  if (method === 'POST') return isForeign(contentType) ? { kind: 'refused', status: 415 } : { kind: 'body' };
  if (method !== 'GET') return BAD;
  const values = new URLSearchParams(rest.join('?')).getAll('dns');
  const [text] = values;
  if (text === undefined || values.length > 1 || !/^[\w-]*$/.test(text)) return BAD;
  const message = Buffer.from(text, 'base64url');
  // Node ignores a surplus character at the end.
  if (message.toString('base64url') !== text || !isQuery(message)) return BAD;
  return { kind: 'message', message };
}

/** RFC 8484 section 4.1. A client that does not say what it sends is taken at its word. */
function isForeign(contentType: string | undefined): boolean {
  return contentType !== undefined && contentType.split(';', 1)[0]?.trim().toLowerCase() !== DNS_MESSAGE;
}
