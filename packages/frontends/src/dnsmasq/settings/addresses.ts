/**
 * IP addresses and ranges in option values, in canonical form.
 */
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { type AddressRange, findMask } from '@portolan/dns/address-range.ts';
import { parseDigits } from './numbers.ts';
import { unescapeText } from './octets.ts';
import { cut } from './pieces.ts';

/** @param text without escaped characters; addresses contain none */
export function readAddress(text: string): string | undefined {
  const octets = parseAddress(text);
  return octets === undefined ? undefined : formatAddress(octets);
}

export function readIpv4(text: string): string | undefined {
  return text.includes(':') ? undefined : readAddress(text);
}

export function readIpv6(text: string): string | undefined {
  return text.includes(':') ? readAddress(text) : undefined;
}

export function isIpv6(address: string): boolean {
  return address.includes(':');
}

/** `ADDRESS`, or `ADDRESS/PREFIX`. */
export function readAddressRange(value: string): AddressRange | undefined {
  return readNetwork(...cut(unescapeText(value), '/'));
}

/** @param bits the prefix length; undefined: the range is the address alone */
export function readNetwork(text: string, bits: string | undefined): AddressRange | undefined {
  const address = readAddress(text);
  if (address === undefined) return undefined;
  const max = isIpv6(address) ? 128 : 32;
  const prefix = bits === undefined ? max : parseDigits(bits);
  return prefix === undefined || prefix > max ? undefined : { address, prefix };
}

/** The first and the last address that share the leading `prefix` bits with `address`. */
export function computeBounds({ address, prefix }: AddressRange): { first: string; last: string } {
  // Canonical addresses can be parsed.
  const first = parseAddress(address) ?? new Uint8Array(4);
  const last = first.slice();
  for (let index = 0; index < first.length; index += 1) {
    const mask = findMask(prefix, index);
    first[index] = (first[index] ?? 0) & mask;
    last[index] = (last[index] ?? 0) | (~mask & 0xff);
  }
  return { first: formatAddress(first), last: formatAddress(last) };
}

/** The octets of an IPv4 address as one number. */
export function numberOfIpv4(address: string): number {
  const octets = parseAddress(address) ?? new Uint8Array();
  return octets.reduce((number, octet) => number * 256 + octet, 0);
}
