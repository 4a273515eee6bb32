/**
 * Reads the fields that all kinds share from Protocol Buffers, without making values of them: positions in the octets.
 */
import type { Cursor } from '@portolan/kernel/base/protobuf-message.ts';

/** Octets from `start` to `end`; empty where the field is missing. */
export interface OctetSpan {
  start: number;
  end: number;
}

export const newRange = (): OctetSpan => ({ start: 0, end: 0 });

export function clearRange(range: OctetSpan): void {
  range.start = 0;
  range.end = 0;
}

/** Reads a field with a length into a range. @throws ProtobufError */
export function readRange(cursor: Cursor, range: OctetSpan): void {
  const end = cursor.readLength();
  range.start = cursor.position;
  range.end = end;
  cursor.position = end;
}

/** Whether a range has exactly these octets. */
export function isText(octets: Uint8Array, { start, end }: OctetSpan, text: Uint8Array): boolean {
  if (end - start !== text.length) return false;
  for (let index = 0; index < text.length; index++) if (octets[start + index] !== text[index]) return false;
  return true;
}

/**
 * Reads the fields of a message in the cursor, which ends where the message does.
 *
 * @param take reads the field of a tag (number and wire type) and returns true, or returns false to pass over it
 * @throws ProtobufError
 */
export function readFields(cursor: Cursor, take: (tag: number, cursor: Cursor) => boolean): void {
  while (cursor.position < cursor.end) {
    const tag = cursor.readNumber();
    if (!take(tag, cursor)) cursor.skip(tag % 8);
  }
}

/** Reads a message within another one. @throws ProtobufError */
export function readInner(cursor: Cursor, take: (tag: number, cursor: Cursor) => boolean): void {
  const outer = cursor.end;
  const end = cursor.readLength();
  cursor.end = end;
  readFields(cursor, take);
  cursor.position = end;
  cursor.end = outer;
}

/** The tag of a field: its number and its wire type. */
export const delimited = (field: number): number => field * 8 + 2;
export const varint = (field: number): number => field * 8;

/** An IPv4 address in a range, as an unsigned number; -1 if the range holds no address, or not the canonical form. */
export function readIpv4Octets(octets: Uint8Array, { start, end }: OctetSpan): number {
  let address = 0;
  let parts = 0;
  let value = 0;
  let digits = 0;
  for (let at = start; at <= end; at++) {
    const octet = at === end ? DOT : (octets[at] ?? 0);
    if (octet === DOT) {
      if (digits === 0 || parts === 4) return -1;
      address = address * 256 + value;
      parts++;
      value = 0;
      digits = 0;
      continue;
    }
    if (octet < ZERO || octet > ZERO + 9 || (digits > 0 && value === 0)) return -1;
    value = value * 10 + octet - ZERO;
    digits++;
    if (value > 255) return -1;
  }
  return parts === 4 ? address : -1;
}

const DOT = 0x2e;
const ZERO = 0x30;
