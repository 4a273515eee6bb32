/**
 * Whole numbers in option values.
 *
 * An empty text is 0, as in dnsmasq. Numbers that overflow in dnsmasq are refused here.
 */
import { textOfOctets, unescapeText } from './octets.ts';
import type { OptionUse } from './option.ts';

export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** As in "a number of seconds". */
  readonly of: string;
}

export const PORT: Bounds = { min: 0, max: 65_535, of: 'a port' };
export const SIXTEEN_BITS: Bounds = { min: 0, max: 0xffff, of: 'a number' };
export const SECONDS: Bounds = { min: 0, max: 0x7fff_ffff, of: 'a number of seconds' };

/** @returns a number from 0; undefined if the text has characters other than digits */
export function parseDigits(text: string): number | undefined {
  const plain = unescapeText(text);
  return /^\d*$/.test(plain) ? Number(plain) : undefined;
}

/** @returns undefined for an invalid number, which is reported */
export function readNumber(use: OptionUse, text: string | undefined, bounds: Bounds): number | undefined {
  const number = text === undefined ? undefined : parseDigits(text);
  if (number !== undefined && number >= bounds.min && number <= bounds.max) return number;
  const fault = number === undefined ? 'not a whole number' : 'out of range';
  use.refuse(
    fault,
    `Give ${bounds.of} from ${bounds.min} to ${bounds.max}.`,
    text === undefined ? undefined : textOfOctets(text),
  );
  return undefined;
}
