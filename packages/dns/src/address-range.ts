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

/** The same text for the same address and prefix. */
export function toRangeKey({ address, prefix }: AddressRange): string {
  return `${address}/${prefix}`;
}

/** The ranges without duplicates; of equal ones the place of the first. */
export function uniteRanges(ranges: readonly AddressRange[]): readonly AddressRange[] {
  return [...new Map(ranges.map((range) => [toRangeKey(range), range])).values()];
}

/** The bits that a prefix covers of the octet at a place, from 0, of an address. */
export function findMask(prefix: number, place: number): number {
  return (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * place))) & 0xff;
}

/** Whether octets, 4 or 16, are an address of a range. A range whose text is not an address is empty. */
export type AddressMatch = (octets: Uint8Array) => boolean;

export function matchRange({ address, prefix }: AddressRange): AddressMatch {
  const own = parseAddress(address);
  if (own === undefined) return () => false;
  const isSame = (octet: number, place: number): boolean =>
    ((octet ^ (own[place] ?? 0)) & findMask(prefix, place)) === 0;
  return (octets) => octets.length === own.length && octets.every(isSame);
}

/** Whether a text is an address of a range. */
export function holdsAddress(range: AddressRange, text: string): boolean {
  const octets = parseAddress(text);
  return octets !== undefined && matchRange(range)(octets);
}

/** Whether octets are an address of any of the ranges. */
export function matchRanges(ranges: readonly AddressRange[]): AddressMatch {
  const matches = ranges.map(matchRange);
  return (octets) => matches.some((isMatch) => isMatch(octets));
}
