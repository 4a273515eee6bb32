/**
 * The reverse zones that cover a network in an option.
 */
import { toOctetRange } from '@portolan/dns/range-map.ts';
import { splitIntoReverseZones } from '@portolan/dns/reverse-zones.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { isIpv6 } from './addresses.ts';

/**
 * @param address canonical
 * @param prefix the prefix length; defaults to all bits
 * @returns undefined if the prefix is out of range; 0 is, since it would cover the whole reverse tree
 */
export function reverseZones(address: string, prefix: number | undefined): readonly NameKey[] | undefined {
  const range = toOctetRange({ address, prefix: prefix ?? (isIpv6(address) ? 128 : 32) });
  return range === undefined || range.prefix === 0 ? undefined : splitIntoReverseZones(range);
}
