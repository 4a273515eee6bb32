/**
 * Extended DNS errors: the reason for a response (RFC 8914).
 */
import type { EdnsOption } from './types.ts';

const OPTION = 15;

/** Codes of RFC 8914 section 4. */
export const EXTENDED_ERROR = { BLOCKED: 15, FILTERED: 17 } as const;

/** @param code 0 to 65,535 */
export function extendedError(code: number, text = ''): EdnsOption {
  return { code: OPTION, data: Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(text)]) };
}
