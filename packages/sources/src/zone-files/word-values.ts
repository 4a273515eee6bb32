/**
 * Reads words of a master file as names, numbers, TTLs and octets.
 */

import { parseAddress } from '@portolan/dns/address.ts';
import { NameError, parseName, ROOT } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import { parseBase64 } from '@portolan/kernel/base/base64.ts';
import { ZoneFileFault, type ZoneWord } from './entries.ts';

/** A name; without a final dot it is relative to the origin, and `@` is the origin itself. @throws ZoneFileFault */
export function readName(word: ZoneWord, origin: AbsoluteName): AbsoluteName {
  if (word.text === '@' && !word.isQuoted) return origin;
  // A dot after an odd number of backslashes is part of a label.
  const isAbsolute = /(?:^|[^\\])(?:\\\\)*\.$/.test(word.text);
  const text = escapeCharacters(word.text);
  try {
    if (isAbsolute) return parseName(text);
    return parseName(origin === ROOT ? `${text}.` : `${text}.${origin}`);
  } catch (error) {
    if (!(error instanceof NameError)) throw error;
    throw new ZoneFileFault('not a domain name', word);
  }
}

/** Control characters are their octets, and characters outside ASCII the octets of UTF-8, as in CoreDNS and NSD. */
function escapeCharacters(text: string): string {
  return text.replace(/\\?[\p{Cc}\u0080-\u{10ffff}]/gu, (character) =>
    Array.from(
      Buffer.from(character.replace('\\', ''), 'utf8'),
      (octet) => `\\${String(octet).padStart(3, '0')}`,
    ).join(''),
  );
}

/** The fault of a record whose data lacks a field. @param before the word before it */
export function missingField(field: string, { line, column }: ZoneWord): ZoneFileFault {
  return new ZoneFileFault(`the data ends too early: ${field} is missing`, { line, column });
}

/** A whole number. @throws ZoneFileFault */
export function readNumber(word: ZoneWord, max: number): number {
  if (/^\d{1,10}$/.test(word.text) && Number(word.text) <= max) return Number(word.text);
  throw new ZoneFileFault(`not a whole number from 0 to ${max}`, word);
}

const SECONDS: ReadonlyMap<string, number> = new Map<string, number>([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
  ['w', 604_800],
]);
export const MAX_UINT32 = 2 ** 32 - 1;
/** RFC 2181 section 8. */
export const MAX_TTL = 2 ** 31 - 1;

/** Seconds, or numbers with units as in `1h30m` and `1h30`. @returns undefined if it is not a TTL */
export function parseTtl(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  if (!/^(?:\d{1,9}[smhdw])+\d{0,9}$/i.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit = 's'] of text.matchAll(/(\d+)([smhdw])?/gi))
    seconds += Number(amount) * (SECONDS.get(unit.toLowerCase()) ?? 0);
  return seconds;
}

/** @throws ZoneFileFault */
export function readSeconds(word: ZoneWord): number {
  const seconds = parseTtl(word.text);
  if (seconds !== undefined && seconds <= MAX_UINT32) return seconds;
  throw new ZoneFileFault('not a number of seconds', word);
}

/** The octets of a character string: `\DDD` and `\X` are escapes, other characters are encoded in UTF-8. */
export function readOctets(word: ZoneWord): Uint8Array {
  if (!word.text.includes('\\')) return Buffer.from(word.text);
  const parts: Uint8Array[] = [];
  for (const [piece] of word.text.matchAll(/\\\d{3}|\\(?:[^0-9]|$)|[^\\]+|\\/gsu)) {
    if (!piece.startsWith('\\')) parts.push(Buffer.from(piece));
    else if (/^\\\d{3}$/.test(piece) && Number(piece.slice(1)) <= 255)
      parts.push(Uint8Array.of(Number(piece.slice(1))));
    else if (/^\\[^0-9]/su.test(piece)) parts.push(Buffer.from(piece.slice(1)));
    else throw new ZoneFileFault('an incomplete escape', word);
  }
  return Buffer.concat(parts);
}

/** @param before the word before them, as the place of a fault if there are none @throws ZoneFileFault */
export function encodeHex(words: readonly ZoneWord[], before: ZoneWord): Uint8Array {
  const digits = words.map(({ text }) => text).join('');
  if (/^(?:[0-9a-fA-F]{2})*$/.test(digits)) return Buffer.from(digits, 'hex');
  throw new ZoneFileFault('not pairs of hexadecimal digits', words[0] ?? before);
}

/** @param before the word before them, as the place of a fault if there are none @throws ZoneFileFault */
export function encodeBase64(words: readonly ZoneWord[], before: ZoneWord): Uint8Array {
  const octets = parseBase64(words.map(({ text }) => text).join(''));
  if (octets !== undefined && octets.length > 0) return octets;
  throw new ZoneFileFault('not base64', words[0] ?? before);
}

/** @throws ZoneFileFault */
export function encodeAddress(word: ZoneWord, octets: 4 | 16): Uint8Array {
  const address = parseAddress(word.text);
  if (address?.length === octets) return address;
  throw new ZoneFileFault(`not an IPv${octets === 4 ? 4 : 6} address`, word);
}
