/**
 * The reverse zones that cover a network.
 *
 * A prefix that ends within a label needs several zones, one for each value of that label.
 */
import { parseAddress, reverseName } from '../../wire/address.ts';
import { parentOf } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { boundsOf, isIpv6 } from './addresses.ts';

/**
 * @param address canonical
 * @param prefix the prefix length; defaults to all bits
 * @returns undefined if the prefix is out of range
 */
export function reverseZones(address: string, prefix: number | undefined): readonly NameKey[] | undefined {
  const bitsOfLabel = isIpv6(address) ? 4 : 8;
  const bits = isIpv6(address) ? 128 : 32;
  const length = prefix ?? bits;
  if (length < 1 || length > bits) return undefined;
  const labels = Math.ceil(length / bitsOfLabel);
  const { first } = boundsOf({ address, prefix: length });
  let zone = reverseName(first);
  for (let above = bits / bitsOfLabel; above > labels; above -= 1) zone = parentOf(zone) ?? zone;
  const openBits = labels * bitsOfLabel - length;
  return openBits === 0 ? [zone] : siblingsOf(zone, first, labels, openBits);
}

/** The zones for `zone` and its next siblings: 2^`openBits` in total. */
function siblingsOf(zone: NameKey, first: string, labels: number, openBits: number): readonly NameKey[] {
  const parent = parentOf(zone) ?? zone;
  const octets = parseAddress(first) ?? new Uint8Array();
  const min = isIpv6(first) ? nibbleAt(octets, labels - 1) : (octets[labels - 1] ?? 0);
  const base = isIpv6(first) ? 16 : 10;
  return Array.from({ length: 1 << openBits }, (_, index) => {
    // A number or digit before a key makes a valid key.
    return `${(min + index).toString(base)}.${parent}` as NameKey;
  });
}

function nibbleAt(octets: Uint8Array, index: number): number {
  const octet = octets[index >> 1] ?? 0;
  return index % 2 === 0 ? octet >> 4 : octet & 15;
}
