/**
 * Extended DNS errors: the reason for a response (RFC 8914), as an option of the OPT record.
 *
 * All front ends add one code, without text, to finished responses for clients that sent OPT, and behind it the errors that an upstream
 * server sent with the answer. They add them only if the response is whole: they must never be the reason why a client asks again by
 * TCP. With `-compat`, only plugins send them, where they do in CoreDNS.
 */
import type { PassedErrors } from '@portolan/plugin';
import { type Edns, type EdnsOption, RCODE } from './types.ts';

/** https://www.iana.org/assignments/dns-parameters/dns-parameters.xhtml#extended-dns-error-codes */
export const EXTENDED_ERROR = {
  OTHER: 0,
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

export type { PassedErrors } from '@portolan/plugin';

/** The code of the option. */
export const EXTENDED_ERROR_OPTION = 15;
/** The octets of the option: its code, its length, and the code of the error. */
const EXTENDED_ERROR_OCTETS = 6;
const CODE_OCTETS = 2;
/** Its code and its length. */
const OPTION_HEADER_OCTETS = 4;
const TRUNCATED = 0x02;
const MAX_PASSED = 3;
/** Maximum length of a text that is passed on, with the words before it. */
const MAX_TEXT_OCTETS = 64;
export const MAX_PASSED_OCTETS = MAX_PASSED * (OPTION_HEADER_OCTETS + CODE_OCTETS + MAX_TEXT_OCTETS);

/** @param code 0 to 65,535 */
export function extendedError(code: number, text = ''): EdnsOption {
  return {
    code: EXTENDED_ERROR_OPTION,
    data: Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(text)]),
  };
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
  view.setUint16(end, EXTENDED_ERROR_OPTION);
  view.setUint16(end + 2, CODE_OCTETS);
  view.setUint16(end + 4, code);
  return end + EXTENDED_ERROR_OCTETS;
}

/**
 * Writes errors that are passed on behind a response whose last record is an OPT record: those that there is room for.
 *
 * @param source memory that holds the errors
 * @param from their first octet
 * @param to the octet behind them
 * @param options as above
 * @returns the octet behind the longer response
 */
export function writePassedErrors(
  view: DataView,
  start: number,
  end: number,
  stop: number,
  source: Uint8Array,
  from: number,
  to: number,
  options: number,
): number {
  if ((view.getUint8(start + 2) & TRUNCATED) !== 0) return end;
  let at = from;
  let written = end;
  while (at + OPTION_HEADER_OCTETS <= to) {
    const next = at + OPTION_HEADER_OCTETS + (((source[at + 2] ?? 0) << 8) | (source[at + 3] ?? 0));
    if (next > to || written + next - at > stop) break;
    for (; at < next; at++, written++) view.setUint8(written, source[at] ?? 0);
  }
  view.setUint16(end - options - 2, options + written - end);
  return written;
}

/** The extended errors of one response. */
export interface ResponseErrors {
  /** Our own. */
  readonly code?: number | undefined;
  readonly passed?: PassedErrors | undefined;
}

/** Whether an option is an extended error. */
export function isExtendedError({ code }: EdnsOption): boolean {
  return code === EXTENDED_ERROR_OPTION;
}

/** The same for a response in memory of its own. @param limit octets of the whole response @param options as above */
export function withExtendedErrors(
  response: Uint8Array,
  limit: number,
  { code, passed }: ResponseErrors,
  options: readonly EdnsOption[] = [],
): Uint8Array {
  if (code === undefined && passed === undefined) return response;
  const longer = new Uint8Array(response.length + EXTENDED_ERROR_OCTETS + (passed?.length ?? 0));
  longer.set(response);
  const before = options.reduce((sum, { data }) => sum + OPTION_HEADER_OCTETS + data.length, 0);
  const view = new DataView(longer.buffer);
  const stop = Math.min(limit, longer.length);
  let end = response.length;
  if (code !== undefined) end = writeExtendedError(view, 0, end, stop, code, before);
  if (passed !== undefined) {
    const octets = before + end - response.length;
    end = writePassedErrors(view, 0, end, stop, passed, 0, passed.length, octets);
  }
  return longer.subarray(0, end);
}

/**
 * The extended errors of a reply, to be passed on to clients and cached with its answer. A text names its origin (RFC 8914 section 3),
 * is cut to 64 octets, and has no control characters.
 *
 * @returns undefined: there are none
 */
export function readPassedErrors(edns: Edns | undefined): PassedErrors | undefined {
  // Runs for every decoded reply: nearly all have no options.
  if (edns === undefined || edns.options.length === 0) return undefined;
  const texts = new Map<number, string>();
  for (const { code, data } of edns.options) {
    if (code !== EXTENDED_ERROR_OPTION || data.length < CODE_OCTETS || texts.size === MAX_PASSED) continue;
    const error = ((data[0] ?? 0) << 8) | (data[1] ?? 0);
    if (!texts.has(error)) texts.set(error, passedText(data.subarray(CODE_OCTETS)));
  }
  if (texts.size === 0) return undefined;
  return passedErrors(Array.from(texts, ([code, text]) => extendedError(code, text)));
}

/** @param options of few octets, as they are sent */
export function passedErrors(options: readonly EdnsOption[]): PassedErrors {
  // The octets of extended errors.
  return Buffer.concat(options.map(toWire)) as Uint8Array as PassedErrors;
}

function passedText(octets: Uint8Array): string {
  const text = readText(octets.subarray(0, MAX_READ_OCTETS));
  if (text === '') return ORIGIN;
  let whole = `${ORIGIN}: `;
  for (const character of text) {
    if (Buffer.byteLength(whole) + Buffer.byteLength(character) > MAX_TEXT_OCTETS) break;
    whole += character;
  }
  return whole;
}

/** In the text of an error that is passed on: who found it. */
const ORIGIN = 'upstream';
/** More than is passed on: a character has at most four octets. */
const MAX_READ_OCTETS = 4 * MAX_TEXT_OCTETS;

/** Octets that are no UTF-8 are left out too. */
function readText(octets: Uint8Array): string {
  return Buffer.from(octets)
    .toString('utf8')
    .replaceAll(/[\p{Cc}\ufffd]+/gu, ' ')
    .trim();
}

function toWire({ code, data }: EdnsOption): Uint8Array {
  return Buffer.concat([Buffer.of(code >> 8, code & 0xff, data.length >> 8, data.length & 0xff), data]);
}
