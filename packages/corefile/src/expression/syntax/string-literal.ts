/**
 * What stands between the quotation marks of a string, and the octets that it stands for.
 */
import { toOctets } from '../text/octets.ts';

/** The message is that of expr-lang. */
export class StringLiteralError extends Error {
  override readonly name = 'StringLiteralError';
}

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['`', '`'],
  ['?', '?'],
]);

const ESCAPE = /\\(?:u\{([^}]*)\}|[xX](.{0,2})|u(.{0,4})|U(.{0,8})|([0-3].{0,2})|(.))/gsu;

/** Line ends become `\n`; an escape of a number is a code point. @throws StringLiteralError */
export function unescapeString(source: string): string {
  const text = source.replace(/\r\n?/g, '\n').replace(ESCAPE, (_all, long, x, u, U, octal, simple) => {
    if (octal !== undefined) return toCharacter(parseOctal(octal));
    if (simple !== undefined) return unescapeSimple(simple);
    const [digits, count] =
      long !== undefined ? [long] : x !== undefined ? [x, 2] : u !== undefined ? [u, 4] : [U, 8];
    return toCharacter(parseHexadecimal(digits, count));
  });
  return toOctets(text);
}

/** Escapes are octets, and there are none of code points. @throws StringLiteralError */
export function unescapeBytes(source: string): string {
  const octets = toOctets(source.replace(/\r\n?/g, '\n'));
  return octets.replace(ESCAPE, (_all, long, x, u, U, octal, simple) => {
    if (octal !== undefined) return String.fromCharCode(parseOctal(octal));
    if (x !== undefined) return String.fromCharCode(parseHexadecimal(x, 2));
    if (long !== undefined || u !== undefined || U !== undefined)
      throw new StringLiteralError('unable to unescape string');
    return unescapeSimple(simple);
  });
}

function unescapeSimple(character: string): string {
  const value = SIMPLE.get(character);
  if (value === undefined) throw new StringLiteralError('unable to unescape string');
  return value;
}

/** @param count of digits; undefined: 1 to 6 */
function parseHexadecimal(digits: string, count: number | undefined): number {
  const isWhole =
    /^[\da-fA-F]{1,8}$/.test(digits) && (count === undefined ? digits.length <= 6 : digits.length === count);
  const value = Number.parseInt(digits, 16);
  if (!isWhole || value > 0x10ffff) throw new StringLiteralError('unable to unescape string');
  return value;
}

function parseOctal(digits: string): number {
  if (!/^[0-7]{3}$/.test(digits)) throw new StringLiteralError('unable to unescape octal sequence in string');
  return Number.parseInt(digits, 8);
}

/** Halves of a surrogate pair are no characters. */
function toCharacter(point: number): string {
  return point >= 0xd800 && point <= 0xdfff ? '\ufffd' : String.fromCodePoint(point);
}
