/**
 * IP addresses as text and octets, and their names in the reverse tree (RFC 1035 section 3.5, RFC 3596 section 2.5).
 *
 * IPv6 text is read by RFC 4291 section 2.2 and written by RFC 5952; IPv4 octets have no leading zeros.
 */
import type { NameKey } from './types.ts';

export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly text: string;

  constructor(text: string) {
    super(`not an IP address: ${JSON.stringify(text.slice(0, 100))}`);
    this.text = text;
  }
}

const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
const IPV6_GROUP = /^[0-9a-fA-F]{1,4}$/;
const IPV4_REVERSE = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.in-addr\.arpa\.$/;
const IPV6_REVERSE = /^(?:[0-9a-f]\.){32}ip6\.arpa\.$/;

/** @returns 4 octets, 16 octets, or nothing if the text is no address. A zone (`%eth0`) is not part of an address. */
export function parseAddress(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Uint8Array | undefined {
  const match = IPV4.exec(text);
  if (match === null) return undefined;
  const octets = new Uint8Array(4);
  for (let index = 0; index < 4; index += 1) {
    const digits = match[index + 1] ?? '';
    const value = Number(digits);
    if (value > 255 || (digits.length > 1 && digits.startsWith('0'))) return undefined;
    octets[index] = value;
  }
  return octets;
}

function parseIpv6(text: string): Uint8Array | undefined {
  if (text.length > 45) return undefined;
  const gap = text.indexOf('::');
  const before = parseGroups(gap < 0 ? text : text.slice(0, gap), gap < 0);
  const after = parseGroups(gap < 0 ? '' : text.slice(gap + 2), true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 16 - before.length - after.length;
  // `::` stands for at least one group (RFC 5952 section 4.2.2 asks so of writers; readers are wise to take it too).
  if (gap < 0 ? missing !== 0 : missing < 2) return undefined;
  const octets = new Uint8Array(16);
  octets.set(before, 0);
  octets.set(after, 16 - after.length);
  return octets;
}

/** Groups between colons as octets; the last may be an IPv4 address (RFC 4291 section 2.2, form 3). */
function parseGroups(text: string, atEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const octets: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (IPV6_GROUP.test(group)) {
      const value = Number.parseInt(group, 16);
      octets.push(value >> 8, value & 0xff);
      continue;
    }
    const embedded = atEnd && index === groups.length - 1 ? parseIpv4(group) : undefined;
    if (embedded === undefined) return undefined;
    octets.push(...embedded);
  }
  return octets;
}

/**
 * The canonical text of an address.
 *
 * @param octets 4 or 16 of them.
 */
export function formatAddress(octets: Uint8Array): string {
  return octets.length === 4 ? octets.join('.') : formatIpv6(octets);
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

/** The first of the longest (RFC 5952 section 4.2.3). */
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
 * The name whose PTR record set belongs to an address.
 *
 * @throws AddressError if the text is no address.
 */
export function reverseName(address: string): NameKey {
  const octets = parseAddress(address);
  if (octets === undefined) throw new AddressError(address);
  // Digits, lower-case letters and dots of known lengths: a key.
  if (octets.length === 4) return `${octets.reverse().join('.')}.in-addr.arpa.` as NameKey;
  let name = '';
  for (const octet of octets.reverse()) name += `${(octet & 15).toString(16)}.${(octet >> 4).toString(16)}.`;
  return `${name}ip6.arpa.` as NameKey;
}

/** The address that a name in the reverse tree stands for, if it names a whole one. */
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
