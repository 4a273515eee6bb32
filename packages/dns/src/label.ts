/**
 * Labels: their limits (RFC 1035 section 3.1), the text form of their octets, and case-insensitive equality.
 */

/** Maximum octets of a name in wire form, root label included. */
export const MAX_NAME_OCTETS = 255;
/** Maximum octets of a label, without its length octet. */
export const MAX_LABEL_OCTETS = 63;

/** The text of each octet inside a label: escaped if the plain character has a meaning in zone files. */
const TEXT_OF_OCTET: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  if (octet < 0x21 || octet > 0x7e) return `\\${String(octet).padStart(3, '0')}`;
  const character = String.fromCharCode(octet);
  return '"$().;@\\'.includes(character) ? `\\${character}` : character;
});

/** @param octet 0 to 255. */
export function textOfOctet(octet: number): string {
  return TEXT_OF_OCTET[octet] ?? '';
}

/** `LOWER_CASE[octet]`: the octet, ASCII letters in lower case (RFC 4343 section 3). */
export const LOWER_CASE = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet,
);
