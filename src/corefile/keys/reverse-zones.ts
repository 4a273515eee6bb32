/**
 * Converts address ranges to reverse zones.
 *
 * Reverse zones end at octets (IPv4) or nibbles (IPv6). A range that ends elsewhere becomes several zones at the next boundary.
 */

/**
 * The zones of a range from the lowest address up, each with a final dot.
 *
 * @param octets 4 or 16; bits after the prefix are ignored
 * @param prefix from 0, which is the root of the reverse tree
 */
export function splitIntoReverseZones(octets: Uint8Array, prefix: number): readonly string[] {
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
  return zones.map((zone) => [...zone.reverse().map((digit) => digit.toString(radix)), root].join('.'));
}
