/**
 * Reads addresses from octets of text without making a string: for files of a million lines. It takes the usual forms only.
 */

const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const GROUPS = 8;
/** Octets of the longest usual form: eight groups of four digits. */
const LONGEST = 39;

/**
 * @param into 16 octets for the address
 * @returns 4 or 16, its octets; 0: the text may still be an address, in another form
 */
export function readUsualAddress(text: Uint8Array, start: number, end: number, into: Uint8Array): 0 | 4 | 16 {
  if (end - start > LONGEST) return 0;
  for (let at = start; at < end && at < start + 5; at += 1) {
    if (text[at] === DOT) return readDecimals(text, start, end, into) ? 4 : 0;
    if (text[at] === COLON) return readGroups(text, start, end, into) ? 16 : 0;
  }
  return 0;
}

/** Four numbers without leading zeros. */
function readDecimals(text: Uint8Array, start: number, end: number, into: Uint8Array): boolean {
  let at = start;
  for (let index = 0; index < 4; index += 1) {
    const first = at;
    let value = 0;
    for (; at < end && at - first < 3; at += 1) {
      const digit = (text[at] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    if (at === first || value > 255 || (text[first] === ZERO && at - first > 1)) return false;
    into[index] = value;
    if (index < 3 && text[at] !== DOT) return false;
    if (index < 3) at += 1;
  }
  return at === end;
}

/** Groups of hexadecimal digits, with `::` for at least one group of zeros (RFC 4291 section 2.2). */
function readGroups(text: Uint8Array, start: number, end: number, into: Uint8Array): boolean {
  let at = start;
  let groups = 0;
  /** The groups before `::`; -1: there is none. */
  let before = -1;
  while (at < end) {
    if (text[at] === COLON) {
      // A colon alone stands between groups.
      if (text[at + 1] === COLON && at + 1 < end) {
        if (before >= 0) return false;
        before = groups;
        at += 2;
        if (at === end) break;
      } else if (groups === 0 || at + 1 === end) return false;
      else at += 1;
    } else if (groups > 0) return false;
    const first = at;
    let value = 0;
    for (; at < end && at - first < 4; at += 1) {
      const digit = readHexDigit(text[at] ?? 0);
      if (digit < 0) break;
      value = value * 16 + digit;
    }
    if (at === first || groups === GROUPS) return false;
    into[2 * groups] = value >>> 8;
    into[2 * groups + 1] = value;
    groups += 1;
  }
  if (before < 0) return groups === GROUPS;
  if (groups >= GROUPS) return false;
  const moved = 2 * (groups - before);
  into.copyWithin(16 - moved, 2 * before, 2 * groups);
  into.fill(0, 2 * before, 16 - moved);
  return true;
}

function readHexDigit(octet: number): number {
  if (octet >= ZERO && octet <= ZERO + 9) return octet - ZERO;
  const letter = octet | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}
