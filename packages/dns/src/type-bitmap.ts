/**
 * Sets of record types as bits: in NSEC, NSEC3 and CSYNC records (RFC 4034 section 4.1.2).
 */

const MAX_BLOCK_OCTETS = 32;

/** Blocks of 256 types, each with the bits up to its last type. */
export function encodeTypeBitmap(types: Iterable<number>): Uint8Array {
  const blocks = new Map<number, Uint8Array>();
  for (const type of types) {
    const bits = blocks.get(type >> 8) ?? new Uint8Array(MAX_BLOCK_OCTETS);
    bits[(type & 0xff) >> 3] = (bits[(type & 0xff) >> 3] ?? 0) | (0x80 >> (type & 7));
    blocks.set(type >> 8, bits);
  }
  const parts = [...blocks]
    .sort(([one], [other]) => one - other)
    .map(([block, bits]) => {
      const length = bits.findLastIndex((octet) => octet !== 0) + 1;
      return Buffer.concat([Uint8Array.of(block, length), bits.subarray(0, length)]);
    });
  return Buffer.concat(parts);
}

/** @returns in ascending order; undefined if the octets are no bitmap */
export function decodeTypeBitmap(octets: Uint8Array): readonly number[] | undefined {
  const types: number[] = [];
  let last = -1;
  for (let at = 0; at < octets.length; ) {
    const block = octets[at] ?? 0;
    const length = octets[at + 1] ?? 0;
    const bits = octets.subarray(at + 2, at + 2 + length);
    if (block <= last || length === 0 || length > MAX_BLOCK_OCTETS || bits.length < length) return undefined;
    for (const [place, octet] of bits.entries())
      for (let bit = 0; bit < 8; bit += 1)
        if ((octet & (0x80 >> bit)) !== 0) types.push((block << 8) | (place << 3) | bit);
    last = block;
    at += 2 + length;
  }
  return types;
}
