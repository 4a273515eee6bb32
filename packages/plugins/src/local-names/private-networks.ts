/**
 * Addresses that mean something different in every network (RFC 6303), and their names in the reverse tree.
 *
 * The lists are dnsmasq's: addresses that it never asks about outside, and that it accepts in no answer from outside.
 */
import { parseAddress, unmapAddress } from '@portolan/dns/address.ts';
import { type AddressRange, matchRanges } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';

const range = (address: string, prefix: number): AddressRange => ({ address, prefix });

const isOfLoopback = matchRanges([range('127.0.0.0', 8), range('::1', 128)]);
const isOfThisHost = matchRanges([range('0.0.0.0', 8), range('::', 128)]);
const isOfPrivate = matchRanges([
  range('10.0.0.0', 8),
  range('172.16.0.0', 12),
  range('192.168.0.0', 16),
  range('169.254.0.0', 16),
  range('192.0.2.0', 24),
  range('198.51.100.0', 24),
  range('203.0.113.0', 24),
  range('255.255.255.255', 32),
  range('fe80::', 10),
  range('fec0::', 10),
  range('fd00::', 8),
  range('2001:db8::', 32),
]);

/** @param octets 4 or 16 @param includesLocal whether the loopback and unspecified addresses count */
export function isPrivate(octets: Uint8Array, includesLocal: boolean): boolean {
  const plain = unmapAddress(octets);
  return isOfPrivate(plain) || (includesLocal && (isOfLoopback(plain) || isOfThisHost(plain)));
}

export function isLoopback(octets: Uint8Array): boolean {
  return isOfLoopback(octets);
}

/**
 * The address of a name in the reverse tree. For names of networks, the missing octets are zero.
 *
 * @returns 4 or 16 octets; undefined for other names
 */
export function octetsOfReverseName(name: NameKey): Uint8Array | undefined {
  if (name.endsWith('.in-addr.arpa.')) {
    const parts = name.slice(0, -'.in-addr.arpa.'.length).split('.').reverse();
    if (parts.length > 4) return undefined;
    return parseAddress([...parts, '0', '0', '0'].slice(0, 4).join('.'));
  }
  if (!name.endsWith('.ip6.arpa.')) return undefined;
  const digits = name.slice(0, -'.ip6.arpa.'.length).split('.').reverse();
  if (digits.length > 32 || !digits.every((digit) => /^[0-9a-f]$/.test(digit))) return undefined;
  return Uint8Array.from(Buffer.from(digits.join('').padEnd(32, '0'), 'hex'));
}
