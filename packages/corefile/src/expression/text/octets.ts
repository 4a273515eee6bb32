/**
 * Strings of Go: octets, usually of UTF-8. Here they are strings whose characters are octets, so that length, slices, search and order
 * are those of Go. What is outside of expressions is converted where it comes in and goes out.
 */

const ASCII = /^\p{ASCII}*$/u;

/** The octets of a text. */
export function toOctets(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** The text of octets; an octet that is not UTF-8 becomes U+FFFD, as in Go. */
export function fromOctets(octets: string): string {
  if (ASCII.test(octets)) return octets;
  let text = '';
  for (const { point } of readRunes(octets)) text += String.fromCodePoint(point);
  return text;
}

const INVALID = 0xfffd;

export interface Rune {
  readonly point: number;
  /** Its octets as they stand. */
  readonly octets: string;
  /** An octet that is not UTF-8; its point is U+FFFD. */
  readonly isInvalid: boolean;
}

export function* readRunes(octets: string): Generator<Rune> {
  for (let at = 0; at < octets.length; ) {
    const size = sizeOfRune(octets, at);
    const part = octets.slice(at, at + Math.max(size, 1));
    yield { point: size === 0 ? INVALID : toPoint(part), octets: part, isInvalid: size === 0 };
    at += part.length;
  }
}

export function countRunes(octets: string): number {
  if (ASCII.test(octets)) return octets.length;
  let count = 0;
  for (let at = 0; at < octets.length; at += Math.max(sizeOfRune(octets, at), 1)) count++;
  return count;
}

/** The octets of the rune at a place; 0 if they are not UTF-8 (RFC 3629 section 4). */
function sizeOfRune(octets: string, at: number): number {
  const first = octets.charCodeAt(at);
  if (first < 0x80) return 1;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  const part = octets.slice(at, at + size);
  if (part.length < size || !/^.[\x80-\xbf]+$/s.test(part)) return 0;
  const point = toPoint(part);
  const isOverlong = (size === 3 && point < 0x800) || (size === 4 && point < 0x10000);
  const isSurrogate = point >= 0xd800 && point <= 0xdfff;
  return isOverlong || isSurrogate || point > 0x10ffff ? 0 : size;
}

/** @param part the octets of one rune */
function toPoint(part: string): number {
  const first = part.charCodeAt(0);
  if (part.length === 1) return first;
  let point = first & (0x7f >> part.length);
  for (let at = 1; at < part.length; at++) point = (point << 6) | (part.charCodeAt(at) & 0x3f);
  return point;
}

/** What Go's unicode.IsSpace accepts, as the inside of a character class. */
const SPACE = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const IS_SPACE = new RegExp(`^[${SPACE}]$`);

/** @param character one code point */
export function isSpace(character: string): boolean {
  return IS_SPACE.test(character);
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x0c, '\\f'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
  [0x09, '\\t'],
  [0x0b, '\\v'],
  [0x22, '\\"'],
  [0x5c, '\\\\'],
]);

/** Octets in quotation marks, as Go's `%q` prints them: a text for a message. */
export function quoteOctets(octets: string): string {
  let quoted = '';
  for (const { point, octets: part, isInvalid } of readRunes(octets)) {
    const character = String.fromCodePoint(point);
    const named = ESCAPES.get(point);
    if (isInvalid) quoted += `\\x${toHex(part.charCodeAt(0), 2)}`;
    else if (named !== undefined) quoted += named;
    else if (isPrintable(character)) quoted += character;
    else if (point < 0x80) quoted += `\\x${toHex(point, 2)}`;
    else quoted += point > 0xffff ? `\\U${toHex(point, 8)}` : `\\u${toHex(point, 4)}`;
  }
  return `"${quoted}"`;
}

/** @param character one code point */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

function toHex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
