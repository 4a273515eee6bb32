/**
 * DNS messages in HTTP requests (RFC 8484 section 4.1), as CoreDNS takes them.
 */
import { HEADER_OCTETS, uint16At } from '@portolan/dns/header.ts';
import { OPCODE } from '@portolan/dns/types.ts';

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

const OPCODE_MASK = 15;
const RESPONSE_BIT = 0x80;

/** Whether the header is that of a query with one question, and few further records: a second one of each kind makes it no query. */
export function isQuery(message: Uint8Array): boolean {
  if (message.length < HEADER_OCTETS) return false;
  const octet = message[2] ?? 0;
  const opcode = (octet >> 3) & OPCODE_MASK;
  const [questions, answers, authorities, additionals] = [4, 6, 8, 10].map((at) => uint16At(message, at));
  return (
    (octet & RESPONSE_BIT) === 0 &&
    (opcode === OPCODE.QUERY || opcode === OPCODE.NOTIFY) &&
    questions === 1 &&
    (answers ?? 0) <= 1 &&
    (authorities ?? 0) <= 1 &&
    (additionals ?? 0) <= 2
  );
}
