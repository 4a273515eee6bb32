/**
 * How a gRPC call ended: its status in the trailers, or what HTTP says in its place.
 */
import type { IncomingHttpHeaders } from 'node:http2';

export interface GrpcStatus {
  /** A status code of gRPC; 0 for success. */
  readonly code: number;
  /** The server's words; may be empty. */
  readonly details: string;
}

/** gRPC status codes. */
export const CODE = {
  OK: 0,
  UNKNOWN: 2,
  INVALID: 3,
  NOT_FOUND: 5,
  DENIED: 7,
  EXHAUSTED: 8,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** By HTTP status, where the server does not speak gRPC (http-grpc-status-mapping of gRPC). */
const HTTP_CODES: ReadonlyMap<number, number> = new Map([
  ...([[400, CODE.INTERNAL]] as const),
  ...([[401, CODE.UNAUTHENTICATED]] as const),
  ...([[403, CODE.DENIED]] as const),
  ...([[404, CODE.UNIMPLEMENTED]] as const),
  ...[429, 502, 503, 504].map((status) => [status, CODE.UNAVAILABLE] as const),
]);

/** @param type its content-type. @returns undefined if the response is one of gRPC */
export function faultOfResponse(status: number, type = ''): GrpcStatus | undefined {
  if (status === 200 && type.startsWith('application/grpc')) return undefined;
  if (status === 200) return { code: CODE.UNKNOWN, details: `not an answer of gRPC: content-type ${type}` };
  return { code: HTTP_CODES.get(status) ?? CODE.UNKNOWN, details: `HTTP status ${status}` };
}

/** @param headers trailers, or headers that end the stream. @returns undefined if they have no status */
export function readGrpcStatus(headers: IncomingHttpHeaders): GrpcStatus | undefined {
  const code = headers['grpc-status'];
  if (typeof code !== 'string' || !/^\d{1,3}$/.test(code)) return undefined;
  const details = headers['grpc-message'];
  return { code: Number(code), details: typeof details === 'string' ? decodePercent(details) : '' };
}

/** Octets in percent-encoding; what is not such an encoding stays as it is. */
function decodePercent(text: string): string {
  const octets: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const hex = text[at] === '%' ? text.slice(at + 1, at + 3) : '';
    const isEncoded = /^[0-9a-f]{2}$/i.test(hex);
    octets.push(isEncoded ? Number.parseInt(hex, 16) : text.charCodeAt(at) & 0xff);
    if (isEncoded) at += 2;
  }
  return Buffer.from(octets).toString();
}
