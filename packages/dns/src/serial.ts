/**
 * Serial numbers of zones: they are on a circle (RFC 1982).
 */

/** RFC 1982 section 3.2. */
const HALF = 2 ** 31;
const MODULUS = 2 ** 32;

export function isNewer(serial: number, than: number): boolean {
  const distance = (serial - than + MODULUS) % MODULUS;
  return distance > 0 && distance < HALF;
}
