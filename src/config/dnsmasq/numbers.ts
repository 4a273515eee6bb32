/**
 * Whole numbers in values of options.
 *
 * dnsmasq takes an empty text for 0. Numbers too large for it are wrapped around there; here they are refused.
 */

import { textOfOctets, unveil } from './octets.ts';
import type { Use } from './option.ts';

export interface Bounds {
  readonly least: number;
  readonly most: number;
  /** As in "a number of seconds". */
  readonly of: string;
}

export const PORT: Bounds = { least: 0, most: 65_535, of: 'a port' };
export const SIXTEEN_BITS: Bounds = { least: 0, most: 0xffff, of: 'a number' };
export const SECONDS: Bounds = { least: 0, most: 0x7fff_ffff, of: 'a number of seconds' };

/** @returns the number, from 0, or nothing if there are other characters than digits */
export function parseDigits(text: string): number | undefined {
  const plain = unveil(text);
  return /^\d*$/.test(plain) ? Number(plain) : undefined;
}

/** @returns nothing where the number is wrong, which is reported then */
export function readNumber(use: Use, text: string | undefined, bounds: Bounds): number | undefined {
  const number = text === undefined ? undefined : parseDigits(text);
  if (number !== undefined && number >= bounds.least && number <= bounds.most) return number;
  const fault = number === undefined ? 'not a whole number' : 'out of range';
  use.refuse(
    fault,
    `Give ${bounds.of} from ${bounds.least} to ${bounds.most}.`,
    text === undefined ? undefined : textOfOctets(text),
  );
  return undefined;
}
