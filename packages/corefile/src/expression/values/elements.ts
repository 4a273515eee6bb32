/**
 * The elements of lists, of bytes, and of the octets of texts.
 */
import { isSlice } from './describe-value.ts';
import { type ExpressionValue, GoBytes, GoInteger } from './value.ts';

/** @returns undefined for a value that is neither a list nor bytes */
export function listElements(value: ExpressionValue): readonly ExpressionValue[] | undefined {
  if (isSlice(value)) return value.items;
  return value instanceof GoBytes ? splitOctets(value.octets) : undefined;
}

export function splitOctets(octets: string): readonly GoInteger[] {
  return Array.from(octets, (octet) => new GoInteger('uint8', BigInt(octet.charCodeAt(0))));
}
