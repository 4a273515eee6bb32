/**
 * Extended DNS errors: the reason for a response (RFC 8914), as an option of the OPT record.
 *
 * All front ends add one code, without text, to finished responses for clients that sent OPT. They add it only if the response is
 * whole: it must never be the reason why a client asks again by TCP. With `-compat`, only plugins send it, where they do in CoreDNS.
 */

import { type EdnsOption, RCODE } from './types.ts';

/** https://www.iana.org/assignments/dns-parameters/dns-parameters.xhtml#extended-dns-error-codes */
export const EXTENDED_ERROR = {
  STALE_ANSWER: 3,
  CACHED_ERROR: 13,
  NOT_READY: 14,
  BLOCKED: 15,
  FILTERED: 17,
  STALE_NXDOMAIN: 19,
  NOT_AUTHORITATIVE: 20,
  NO_REACHABLE_AUTHORITY: 22,
  NETWORK_ERROR: 23,
} as const;

export type ExtendedErrorCode = (typeof EXTENDED_ERROR)[keyof typeof EXTENDED_ERROR];

/** The extended error of an answer from a cache; undefined: none, for it is neither stale nor a failure. */
export function extendedErrorOfCached(rcode: number, isStale: boolean): ExtendedErrorCode | undefined {
  if (rcode === RCODE.SERVFAIL) return EXTENDED_ERROR.CACHED_ERROR;
  if (!isStale) return undefined;
  return rcode === RCODE.NXDOMAIN ? EXTENDED_ERROR.STALE_NXDOMAIN : EXTENDED_ERROR.STALE_ANSWER;
}

const OPTION = 15;
/** The octets of the option: its code, its length, and the code of the error. */
const EXTENDED_ERROR_OCTETS = 6;
const CODE_OCTETS = 2;
/** Its code and its length. */
const OPTION_HEADER_OCTETS = 4;
const TRUNCATED = 0x02;

/** @param code 0 to 65,535 */
export function extendedError(code: number, text = ''): EdnsOption {
  return { code: OPTION, data: Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(text)]) };
}

/**
 * Writes the option behind a response whose last record is an OPT record.
 *
 * @param start the first octet of the response
 * @param end the octet behind it
 * @param stop the octet behind the memory that it may take
 * @param options the octets of the options that the OPT record has
 * @returns the octet behind the longer response; `end` if the response is cut, or there is no room
 */
export function writeExtendedError(
  view: DataView,
  start: number,
  end: number,
  stop: number,
  code: number,
  options = 0,
): number {
  const isCut = (view.getUint8(start + 2) & TRUNCATED) !== 0;
  if (isCut || end + EXTENDED_ERROR_OCTETS > stop) return end;
  view.setUint16(end - options - 2, options + EXTENDED_ERROR_OCTETS);
  view.setUint16(end, OPTION);
  view.setUint16(end + 2, CODE_OCTETS);
  view.setUint16(end + 4, code);
  return end + EXTENDED_ERROR_OCTETS;
}

/** Whether an option is an extended error. */
export function isExtendedError({ code }: EdnsOption): boolean {
  return code === OPTION;
}

/** The same for a response in memory of its own. @param limit octets of the whole response @param options as above */
export function withExtendedError(
  response: Uint8Array,
  limit: number,
  code: number,
  options: readonly EdnsOption[] = [],
): Uint8Array {
  const longer = new Uint8Array(response.length + EXTENDED_ERROR_OCTETS);
  longer.set(response);
  const octets = options.reduce((sum, { data }) => sum + OPTION_HEADER_OCTETS + data.length, 0);
  const view = new DataView(longer.buffer);
  return longer.subarray(0, writeExtendedError(view, 0, response.length, limit, code, octets));
}
