/**
 * The data of APL records (RFC 3123): lists of address prefixes, such as `1:192.0.2.0/24 !2:2001:db8::/32`.
 */
import { parseAddress } from '../../wire/address.ts';
import { ZoneFileFault, type ZoneWord } from './entries.ts';

const FAMILIES = { 1: { octets: 4, bits: 32 }, 2: { octets: 16, bits: 128 } } as const;
const NEGATED = 0x80;

/** @throws ZoneFileFault */
export function encodePrefixes(words: readonly ZoneWord[]): Uint8Array {
  return Buffer.concat(words.map(encodePrefix));
}

function encodePrefix(word: ZoneWord): Uint8Array {
  const [, not = '', family = '', text = '', length = ''] =
    /^(!?)([12]):([^/]+)\/(\d{1,3})$/.exec(word.text) ?? [];
  const { octets, bits } = family === '2' ? FAMILIES[2] : FAMILIES[1];
  const address = parseAddress(text);
  if (address?.length !== octets || Number(length) > bits)
    throw new ZoneFileFault('not a prefix such as 1:192.0.2.0/24', word);
  // Zeros at the end are left out (RFC 3123 section 4).
  const shown = address.subarray(0, address.findLastIndex((octet) => octet !== 0) + 1);
  const flags = (not === '' ? 0 : NEGATED) | shown.length;
  return Uint8Array.of(0, Number(family), Number(length), flags, ...shown);
}
