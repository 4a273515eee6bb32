/**
 * Numbers of 16 bits in packets, read in place.
 */

/** Octets beyond the end count as 0. */
export function uint16At(packet: Uint8Array, at: number): number {
  return ((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0);
}
