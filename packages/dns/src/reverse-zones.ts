/**
 * The zones of the reverse tree that hold the names of a range (RFC 1035 section 3.5, RFC 3596 section 2.5).
 */
import type { OctetRange } from './range-map.ts';
import type { NameKey } from './types.ts';

/**
 * The reverse zones of a range from the lowest address up. They end at octets (IPv4) or nibbles (IPv6): a range that ends elsewhere
 * becomes several zones at the next boundary. A prefix of 0 is the root of the reverse tree.
 */
export function splitIntoReverseZones({ octets, prefix }: OctetRange): readonly NameKey[] {
  const isIpv4 = octets.length === 4;
  const boundary = isIpv4 ? 8 : 4;
  const digits = isIpv4 ? [...octets] : [...octets].flatMap((octet) => [octet >> 4, octet & 0xf]);
  const length = Math.ceil(prefix / boundary);
  const missingBits = length * boundary - prefix;
  const fixed = digits.slice(0, length);
  const last = fixed.pop();
  const first = last === undefined ? [] : [last & ~((1 << missingBits) - 1)];
  const lastDigits = first.flatMap((digit) =>
    Array.from({ length: 1 << missingBits }, (_, index) => digit + index),
  );
  const zones = last === undefined ? [[]] : lastDigits.map((digit) => [...fixed, digit]);
  const root = isIpv4 ? 'in-addr.arpa.' : 'ip6.arpa.';
  const radix = isIpv4 ? 10 : 16;
  // Digits in front of a key make a key.
  return zones.map(
    (zone) => [...zone.reverse().map((digit) => digit.toString(radix)), root].join('.') as NameKey,
  );
}
