/**
 * Ranges of IP addresses that share their leading bits.
 */
import { parseAddress } from './address.ts';

export interface AddressRange {
  readonly address: string;
  /** How many leading bits must match: 0 to 32, or 128 for IPv6. */
  readonly prefix: number;
}

/** Reads `10.0.0.0/8`; an address without prefix length is a range of itself alone. @returns undefined if it is neither */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const octets = parseAddress(address);
  const max = (octets?.length ?? 0) * 8;
  const prefix = bits === undefined ? max : Number(bits);
  return octets === undefined || prefix > max ? undefined : { address, prefix };
}

/** Whether octets, 4 or 16, are an address of a range. A range whose text is not an address is empty. */
export type AddressMatch = (octets: Uint8Array) => boolean;

export function matchRange({ address, prefix }: AddressRange): AddressMatch {
  const own = parseAddress(address);
  if (own === undefined) return () => false;
  const isSame = (octet: number, index: number): boolean => {
    const bits = Math.min(8, Math.max(0, prefix - 8 * index));
    return ((octet ^ (own[index] ?? 0)) & (0xff00 >> bits) & 0xff) === 0;
  };
  return (octets) => octets.length === own.length && octets.every(isSame);
}

/** Whether octets are an address of any of the ranges. */
export function matchRanges(ranges: readonly AddressRange[]): AddressMatch {
  const matches = ranges.map(matchRange);
  return (octets) => matches.some((isOf) => isOf(octets));
}
