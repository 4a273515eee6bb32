/**
 * Parses numbers, durations and addresses as Go's library does, with its error messages.
 */
import { isIPv4, isIPv6 } from 'node:net';
import type { AddressRange } from '@portolan/dns/address-range.ts';

/** A value, or Go's message about its text. */
export type GoValue<Value> =
  | { readonly kind: 'good'; readonly value: Value }
  | { readonly kind: 'bad'; readonly fault: string };

const good = <Value>(value: Value): GoValue<Value> => ({ kind: 'good', value });

/** `strconv.Atoi`: an integer with an optional sign. */
export function parseInteger(text: string): GoValue<number> {
  const fault = `strconv.Atoi: parsing ${JSON.stringify(text)}: `;
  if (!/^[+-]?\d+$/.test(text)) return { kind: 'bad', fault: `${fault}invalid syntax` };
  return /^[+-]?0*\d{1,15}$/.test(text)
    ? good(Number(text))
    : { kind: 'bad', fault: `${fault}value out of range` };
}

/** `strconv.ParseUint` with `bits` bits. @param base 10, or 0 to accept prefixes such as `0x` */
export function parseUnsigned(text: string, base: 0 | 10, bits: 16 | 32): GoValue<number> {
  const fault = `strconv.ParseUint: parsing ${JSON.stringify(text)}: `;
  const isNumber = base === 10 ? /^\d+$/ : /^(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9]\d*)$/;
  if (!isNumber.test(text)) return { kind: 'bad', fault: `${fault}invalid syntax` };
  const isOctal = base === 0 && /^0\d/.test(text);
  const value = Number(isOctal ? `0o${text.slice(1)}` : text);
  return value < 2 ** bits ? good(value) : { kind: 'bad', fault: `${fault}value out of range` };
}

/** `strconv.ParseFloat`, without its rarer forms. */
export function parseFloatingPoint(text: string): GoValue<number> {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)
    ? good(Number(text))
    : { kind: 'bad', fault: `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax` };
}

const UNITS: ReadonlyMap<string, number> = new Map<string, number>([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
/** The range of Go's 64-bit nanoseconds. */
const MAX_MILLISECONDS = 2 ** 63 / 1e6;
// Escaped: with one character beyond Latin-1, V8 stores the whole bundle with two octets per character.
const DURATION = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;

/** `time.ParseDuration`. @returns milliseconds, with a fraction for shorter units; may be negative */
export function parseGoDuration(text: string): GoValue<number> {
  const fault = `time: invalid duration ${JSON.stringify(text)}`;
  if (/^[+-]?0$/.test(text)) return good(0);
  if (!DURATION.test(text)) {
    const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text);
    return {
      kind: 'bad',
      fault: isNumber ? `time: missing unit in duration ${JSON.stringify(text)}` : fault,
    };
  }
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g))
    total += Number(amount) * (UNITS.get(unit ?? '') ?? 0);
  if (total >= MAX_MILLISECONDS) return { kind: 'bad', fault };
  return good(text.startsWith('-') ? -total : total);
}

export interface HostAndPort {
  readonly host: string;
  readonly port: string;
}

/** `net.SplitHostPort`: `host:port`, `[address]:port`, `:port`. */
export function splitAddress(text: string): GoValue<HostAndPort> {
  const bad = (fault: string): GoValue<HostAndPort> => ({ kind: 'bad', fault: `address ${text}: ${fault}` });
  const colon = text.lastIndexOf(':');
  if (colon < 0) return bad('missing port in address');
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    if (end < 0) return bad("missing ']' in address");
    if (end + 1 === text.length) return bad('missing port in address');
    if (end + 1 !== colon)
      return bad(text[end + 1] === ':' ? 'too many colons in address' : 'missing port in address');
    return good({ host: text.slice(1, end), port: text.slice(colon + 1) });
  }
  if (text.indexOf(':') !== colon) return bad('too many colons in address');
  if (/[[\]]/.test(text)) return bad(`unexpected '${text.includes('[') ? '[' : ']'}' in address`);
  return good({ host: text.slice(0, colon), port: text.slice(colon + 1) });
}

/** `net.ParseIP`: without zone. */
export function isAddress(text: string): boolean {
  return isIPv4(text) || (isIPv6(text) && !text.includes('%'));
}

/** `net.ParseCIDR`. */
export function parseCidr(text: string): GoValue<AddressRange> {
  const [, address = '', bits = ''] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const max = isIPv4(address) ? 32 : 128;
  if (!isAddress(address) || Number(bits) > max)
    return { kind: 'bad', fault: `invalid CIDR address: ${text}` };
  return good({ address, prefix: Number(bits) });
}
