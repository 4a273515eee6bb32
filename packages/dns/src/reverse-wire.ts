/**
 * Names of the reverse tree in wire form, from octets and back: like `address.ts`, but without text.
 */
import type { WireName } from './types.ts';

const ZERO = 0x30;
const LOWER_A = 0x61;
/** The octets after the labels of an address. */
const IN_ADDR_ARPA = Uint8Array.from(Buffer.from('\x07in-addr\x04arpa\0', 'latin1'));
const IP6_ARPA = Uint8Array.from(Buffer.from('\x03ip6\x04arpa\0', 'latin1'));
const IPV6_LABELS = 32;

/** Scratch memory for the name. */
const scratch = new Uint8Array(2 * IPV6_LABELS + IP6_ARPA.length);

/**
 * The name of an address's PTR record set.
 *
 * @param octets 4 or 16
 * @returns memory that the next call overwrites
 */
export function encodeReverseName(octets: Uint8Array): WireName {
  let at = 0;
  const isIpv4 = octets.length === 4;
  for (let index = octets.length - 1; index >= 0; index -= 1) {
    const octet = octets[index] ?? 0;
    at = isIpv4 ? writeDecimal(at, octet) : writeNibbles(at, octet);
  }
  const suffix = isIpv4 ? IN_ADDR_ARPA : IP6_ARPA;
  scratch.set(suffix, at);
  return scratch.subarray(0, at + suffix.length) as WireName; // Labels with their lengths, up to the root.
}

function writeDecimal(at: number, octet: number): number {
  const digits = octet > 99 ? 3 : octet > 9 ? 2 : 1;
  scratch[at] = digits;
  for (let place = digits, rest = octet; place > 0; place -= 1, rest = Math.floor(rest / 10))
    scratch[at + place] = ZERO + (rest % 10);
  return at + digits + 1;
}

function writeNibbles(at: number, octet: number): number {
  scratch[at] = 1;
  scratch[at + 1] = writtenDigit(octet & 15);
  scratch[at + 2] = 1;
  scratch[at + 3] = writtenDigit(octet >> 4);
  return at + 4;
}

const writtenDigit = (value: number): number => (value < 10 ? ZERO + value : LOWER_A + value - 10);

/** The address of a lower-case name in the reverse tree; undefined if the name is not that of a single address. */
export function decodeReverseName(name: Uint8Array): Uint8Array | undefined {
  if (endsWith(name, IN_ADDR_ARPA)) return readDecimals(name, name.length - IN_ADDR_ARPA.length);
  return endsWith(name, IP6_ARPA) ? readNibbles(name, name.length - IP6_ARPA.length) : undefined;
}

function endsWith(name: Uint8Array, suffix: Uint8Array): boolean {
  const start = name.length - suffix.length;
  if (start < 0) return false;
  for (let index = 0; index < suffix.length; index += 1)
    if (name[start + index] !== suffix[index]) return false;
  return true;
}

function readDecimals(name: Uint8Array, end: number): Uint8Array | undefined {
  const octets = new Uint8Array(4);
  let at = 0;
  for (let index = 3; index >= 0; index -= 1) {
    const digits = name[at] ?? 0;
    if (at >= end || digits > 3) return undefined;
    let value = 0;
    for (let place = 1; place <= digits; place += 1) {
      const digit = (name[at + place] ?? 0) - ZERO;
      // Each address has only one name.
      if (digit < 0 || digit > 9 || (place === 1 && digit === 0 && digits > 1)) return undefined;
      value = value * 10 + digit;
    }
    if (value > 255) return undefined;
    octets[index] = value;
    at += digits + 1;
  }
  return at === end ? octets : undefined;
}

function readNibbles(name: Uint8Array, end: number): Uint8Array | undefined {
  if (end !== 2 * IPV6_LABELS) return undefined;
  const octets = new Uint8Array(16);
  for (let label = 0; label < IPV6_LABELS; label += 1) {
    const value = name[2 * label] === 1 ? readHexDigit(name[2 * label + 1] ?? 0) : -1;
    if (value < 0) return undefined;
    const index = 15 - (label >> 1);
    octets[index] = (octets[index] ?? 0) | (value << (label & 1 ? 4 : 0));
  }
  return octets;
}

function readHexDigit(code: number): number {
  if (code >= ZERO && code <= ZERO + 9) return code - ZERO;
  return code >= LOWER_A && code < LOWER_A + 6 ? code - LOWER_A + 10 : -1;
}
