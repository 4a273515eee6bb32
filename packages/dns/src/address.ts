/**
 * IP addresses as text and octets, and their names in the reverse tree (RFC 1035 section 3.5, RFC 3596 section 2.5).
 *
 * IPv6 text is read by RFC 4291 section 2.2 and written by RFC 5952; IPv4 octets have no leading zeros.
 */
import type { TextBuffer } from './text-buffer.ts';
import type { NameKey } from './types.ts';

export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly text: string;

  constructor(text: string) {
    super(`not an IP address: ${JSON.stringify(text.slice(0, 100))}`);
    this.text = text;
  }
}

const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const LOWER_A = 0x61;

/** Eight groups of four, or six and an IPv4 address. */
const MAX_IPV6_TEXT = 45;
const IPV4_REVERSE = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.in-addr\.arpa\.$/;
const IPV6_REVERSE = /^(?:[0-9a-f]\.){32}ip6\.arpa\.$/;

/** @returns 4 octets, 16 octets, or undefined if the text is not an address. A zone (`%eth0`) is not part of an address. */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Uint8Array | undefined {
  const value = readIpv4(text);
  if (value < 0) return undefined;
  const octets = new Uint8Array(4);
  for (let place = 0; place < 4; place += 1) octets[place] = value >>> (24 - 8 * place);
  return octets;
}

/** The octets of an IPv4 address as one number, the first one highest; -1 if the text is not an IPv4 address. */
export function readIpv4(text: string): number {
  let address = 0;
  let place = 0;
  let value = 0;
  let digits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === DOT && digits > 0 && place < 3) {
      address = address * 256 + value;
      place += 1;
      value = 0;
      digits = 0;
      continue;
    }
    const isLeadingZero = digits > 0 && value === 0;
    if (code < ZERO || code > ZERO + 9 || isLeadingZero) return -1;
    value = value * 10 + code - ZERO;
    digits += 1;
    if (value > 255) return -1;
  }
  return place === 3 && digits > 0 ? address * 256 + value : -1;
}

function parseIpv6(text: string): Uint8Array | undefined {
  if (text.length > MAX_IPV6_TEXT) return undefined;
  const octets = new Uint8Array(16);
  let filled = 0;
  let gap = text.startsWith('::') ? 0 : -1;
  let start = gap === 0 ? 2 : 0;
  while (start < text.length) {
    const colon = text.indexOf(':', start);
    const end = colon < 0 ? text.length : colon;
    const written = writeGroup(text, start, end, octets, filled);
    if (written === 0) return undefined;
    filled += written;
    if (colon < 0) break;
    start = colon + 1;
    if (text.charCodeAt(start) === COLON) {
      if (gap >= 0) return undefined;
      gap = filled;
      start += 1;
    } else if (start === text.length) return undefined;
  }
  return gap < 0 ? (filled === 16 ? octets : undefined) : widenGap(octets, gap, filled);
}

/**
 * Writes a group, or the IPv4 address that may come last (RFC 4291 section 2.2, form 3).
 *
 * @returns The octets written: 2, 4, or 0 if the text is neither, or does not fit.
 */
function writeGroup(text: string, start: number, end: number, octets: Uint8Array, at: number): number {
  if (end === text.length && text.includes('.', start)) {
    const embedded = parseIpv4(text.slice(start));
    if (embedded === undefined || at > 12) return 0;
    octets.set(embedded, at);
    return 4;
  }
  if (end - start < 1 || end - start > 4 || at > 14) return 0;
  let value = 0;
  for (let index = start; index < end; index += 1) {
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return 0;
    value = value * 16 + digit;
  }
  octets[at] = value >> 8;
  octets[at + 1] = value;
  return 2;
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= ZERO + 9) return code - ZERO;
  const lower = code | 0x20;
  return lower >= LOWER_A && lower < LOWER_A + 6 ? lower - LOWER_A + 10 : -1;
}

/** Moves the octets after `::` to the end. The gap represents at least one group (RFC 4291 section 2.2, form 2). */
function widenGap(octets: Uint8Array, gap: number, filled: number): Uint8Array | undefined {
  if (filled > 14) return undefined;
  const behind = 16 - (filled - gap);
  octets.copyWithin(behind, gap, filled);
  return octets.fill(0, gap, behind);
}

/**
 * Whether an IPv6 address maps one of IPv4, which then is its last four octets (RFC 4291 section 2.5.5.2).
 *
 * @param at where its 16 octets begin
 */
export function isMappedAddress(octets: Uint8Array, at: number): boolean {
  for (let index = 0; index < 10; index++) if (octets[at + index] !== 0) return false;
  return octets[at + 10] === 0xff && octets[at + 11] === 0xff;
}

/** The IPv4 address of an IPv4-mapped one, as a view of it; any other address as it is. @param octets 4 or 16 */
export function unmapAddress(octets: Uint8Array): Uint8Array {
  return octets.length === 16 && isMappedAddress(octets, 0) ? octets.subarray(12) : octets;
}

/**
 * The canonical text of an address.
 *
 * @param octets 4 or 16 of them.
 */
export function formatAddress(octets: Uint8Array): string {
  // Four times as fast as `join`.
  return octets.length === 4 ? `${octets[0]}.${octets[1]}.${octets[2]}.${octets[3]}` : formatIpv6(octets);
}

/** Adds the canonical text of the address at an offset. @param count of its octets, 4 or 16 */
export function addAddress(into: TextBuffer, octets: Uint8Array, at: number, count: number): void {
  if (count !== 4) {
    into.addText(formatIpv6(octets.subarray(at, at + count)));
    return;
  }
  for (let place = 0; place < 4; place += 1) {
    if (place > 0) into.addOctet(DOT);
    into.addNumber(octets[at + place] ?? 0);
  }
}

/** The same, in brackets where an address of IPv6 needs them before a port. */
export function addBracketed(into: TextBuffer, octets: Uint8Array, at: number, count: number): void {
  if (count !== 4) into.addText('[');
  addAddress(into, octets, at, count);
  if (count !== 4) into.addText(']');
}

function formatIpv6(octets: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, index) => groupAt(octets, index));
  // RFC 5952 section 5: addresses of a prefix known to hold IPv4 addresses show them.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return `::ffff:${octets.subarray(12).join('.')}`;
  const zeros = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (zeros.length < 2) return hex.join(':');
  return `${hex.slice(0, zeros.start).join(':')}::${hex.slice(zeros.start + zeros.length).join(':')}`;
}

function groupAt(octets: Uint8Array, index: number): number {
  return ((octets[2 * index] ?? 0) << 8) | (octets[2 * index + 1] ?? 0);
}

/** The first of the longest runs (RFC 5952 section 4.2.3). */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  }
  return longest;
}

/**
 * The name of an address's PTR record set.
 *
 * @throws AddressError if the text is not an address.
 */
export function reverseName(address: string): NameKey {
  // It has only digits, lower-case letters and dots, of limited length: a key.
  const ipv4 = readIpv4(address);
  if (ipv4 >= 0)
    return `${ipv4 & 255}.${(ipv4 >>> 8) & 255}.${(ipv4 >>> 16) & 255}.${ipv4 >>> 24}.in-addr.arpa.` as NameKey;
  const octets = parseAddress(address);
  if (octets === undefined) throw new AddressError(address);
  let name = '';
  for (const octet of octets.reverse()) name += `${(octet & 15).toString(16)}.${(octet >> 4).toString(16)}.`;
  return `${name}ip6.arpa.` as NameKey;
}

/** The address of a name in the reverse tree; undefined if the name is not that of a single address. */
export function addressOfReverseName(key: NameKey): string | undefined {
  if (key.endsWith('.in-addr.arpa.')) {
    const match = IPV4_REVERSE.exec(key);
    const octets = match === null ? undefined : parseIpv4(`${match[4]}.${match[3]}.${match[2]}.${match[1]}`);
    return octets === undefined ? undefined : formatAddress(octets);
  }
  if (!IPV6_REVERSE.test(key)) return undefined;
  const octets = new Uint8Array(16);
  for (let index = 0; index < 16; index += 1) {
    const high = Number.parseInt(key.charAt(62 - 4 * index), 16);
    const low = Number.parseInt(key.charAt(60 - 4 * index), 16);
    octets[index] = (high << 4) | low;
  }
  return formatAddress(octets);
}
