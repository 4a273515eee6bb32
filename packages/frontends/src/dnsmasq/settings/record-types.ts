/**
 * Record types by number or by name, for `filter-rr` and `cache-rr`.
 */
import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseDigits } from './numbers.ts';
import { textOfOctets, unescapeText } from './octets.ts';
import type { OptionUse } from './option.ts';
import { cutAll } from './pieces.ts';

/** Rarely used type names that dnsmasq knows beside Portolan's (IANA, DNS parameters). */
const RARE_TYPES: ReadonlyMap<string, number> = new Map<string, number>([
  ['NSAP', 22],
  ['NSAP_PTR', 23],
  ['GPOS', 27],
  ['EID', 31],
  ['NIMLOC', 32],
  ['ATMA', 34],
  ['A6', 38],
  ['SINK', 40],
  ['NINFO', 56],
  ['RKEY', 57],
  ['TALINK', 58],
  ['UINFO', 100],
  ['UID', 101],
  ['GID', 102],
  ['UNSPEC', 103],
  ['NID', 104],
  ['L32', 105],
  ['L64', 106],
  ['LP', 107],
  ['AVC', 258],
  ['DOA', 259],
  ['AMTRELAY', 260],
  ['RESINFO', 261],
  ['TA', 32768],
  ['DLV', 32769],
]);

/** The types of a list; unknown ones are reported. */
export function readTypes(use: OptionUse, value: string): readonly number[] {
  return cutAll(value).flatMap((text) => {
    const number = typeNumber(text);
    if (number !== undefined) return [number];
    use.refuse('not a type of records', 'Give a name such as TXT, or a number to 65535.', textOfOctets(text));
    return [];
  });
}

function typeNumber(text: string): number | undefined {
  const number = parseDigits(text);
  if (number !== undefined) return number <= 0xffff ? number : undefined;
  // dnsmasq does not accept the form `TYPE65280`.
  const name = unescapeText(text).toUpperCase();
  return /^TYPE/.test(name) ? undefined : (parseType(name) ?? RARE_TYPES.get(name));
}
