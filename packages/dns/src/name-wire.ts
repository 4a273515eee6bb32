/**
 * Domain names as octets: each label follows its length octet; the empty root label is last (RFC 1035 section 3.1).
 */
import { HEADER_OCTETS } from './header.ts';
import { MAX_LABEL_OCTETS, MAX_NAME_OCTETS, textOfOctet } from './label.ts';
import type { AbsoluteName, NameKey, WireName } from './types.ts';
import { WireError } from './wire-error.ts';

const DOT = 0x2e;
const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** Maximum of pointers in one name: a name has no more labels. */
const MAX_POINTERS = 127;

/** Scratch memory for reading or measuring a name; its content is not kept between calls. */
const nameText = Buffer.alloc(4 * MAX_NAME_OCTETS);
const nameOctets = new Uint8Array(MAX_NAME_OCTETS);

/**
 * Writes a name uncompressed. Octets beyond the end of `into` are not written.
 *
 * @returns The offset after it, which may be beyond the end.
 */
export function writeName(name: AbsoluteName, into: Uint8Array, at: number): number {
  if (name.length === 1) {
    into[at] = 0;
    return at + 1;
  }
  let lengthAt = at;
  let position = at + 1;
  for (let index = 0; index < name.length; index += 1) {
    let code = name.charCodeAt(index);
    if (code === DOT) {
      into[lengthAt] = position - lengthAt - 1;
      lengthAt = position;
    } else {
      if (code === BACKSLASH) {
        code = escapedOctet(name, index);
        index += isDigit(name, index + 1) ? 3 : 1;
      }
      into[position] = code;
    }
    position += 1;
  }
  into[lengthAt] = 0;
  return position;
}

function escapedOctet(name: string, backslash: number): number {
  if (!isDigit(name, backslash + 1)) return name.charCodeAt(backslash + 1);
  const digit = (place: number) => name.charCodeAt(backslash + place) - ZERO;
  return digit(1) * 100 + digit(2) * 10 + digit(3);
}

function isDigit(name: string, index: number): boolean {
  const code = name.charCodeAt(index);
  return code >= ZERO && code <= ZERO + 9;
}

/** The name in wire form, uncompressed, with its original case. */
export function encodeName(name: AbsoluteName): WireName {
  if (name.includes('\\')) return nameOctets.slice(0, writeName(name, nameOctets, 0)) as WireName; // Written by writeName.
  const wire = new Uint8Array(name.length === 1 ? 1 : name.length + 1);
  writeName(name, wire, 0);
  return wire as WireName; // Written by writeName.
}

/** The name in text form. */
export function decodeName(wire: WireName): AbsoluteName {
  return readName(wire, 0).name;
}

/**
 * The text of a lower-case name in wire form without escapes, as nearly all names are.
 *
 * @param wire begins with the name
 * @returns undefined for the root, and for names that need escapes
 */
export function plainKey(wire: Uint8Array): NameKey | undefined {
  let position = 0;
  for (let length = wire[0] ?? 0; length > 0; length = wire[position] ?? 0) {
    for (const end = position + length; position < end; position += 1) {
      const octet = wire[position + 1] ?? 0;
      if (STANDS_FOR_ITSELF[octet] !== 1) return undefined;
      nameText[position] = octet;
    }
    nameText[position] = DOT;
    position += 1;
  }
  return position === 0 ? undefined : (nameText.toString('latin1', 0, position) as NameKey); // Plain octets by the table, in lower case.
}

/** The text of a whole lower-case name in wire form. */
export function keyOfWire(wire: WireName): NameKey {
  return plainKey(wire) ?? (decodeName(wire) as NameKey); // The caller passes lower case.
}

/** Octets that need no escape. */
const STANDS_FOR_ITSELF = Uint8Array.from({ length: 256 }, (_, octet) =>
  textOfOctet(octet).length === 1 ? 1 : 0,
);

/** Whether the first label is `*` (RFC 4592 section 2.1.1). */
export function isWildcardName(wire: WireName): boolean {
  return wire[0] === 1 && wire[1] === 0x2a;
}

/**
 * Reads a name inside a message and follows compression pointers (RFC 1035 section 4.1.4). A pointer must point before
 * the labels that it completes, so reading always terminates.
 *
 * @returns The name, and the offset after it in the message.
 * @throws WireError if it leaves the message, is longer than 255 octets, points forwards or into the header.
 */
export function readName(message: Uint8Array, offset: number): { name: AbsoluteName; next: number } {
  let textLength = 0;
  let octets = 1;
  let next = -1;
  let pointers = 0;
  let runStart = offset;
  let position = offset;
  for (;;) {
    const length = message[position];
    if (length === undefined) throw new WireError('name leaves the message', position);
    if (length === 0) break;
    if (length > MAX_LABEL_OCTETS) {
      const target = readPointer(message, position, runStart);
      pointers += 1;
      if (pointers > MAX_POINTERS) throw new WireError('name of more than 127 pointers', offset);
      if (next < 0) next = position + 2;
      runStart = target;
      position = target;
      continue;
    }
    octets += length + 1;
    if (octets > MAX_NAME_OCTETS) throw new WireError('name of more than 255 octets', offset);
    if (position + length >= message.length) throw new WireError('label leaves the message', position);
    textLength = writeLabelText(message, position + 1, length, textLength);
    position += length + 1;
  }
  if (next < 0) next = position + 1;
  const name = textLength === 0 ? '.' : nameText.toString('latin1', 0, textLength);
  return { name: name as AbsoluteName, next }; // All octets are in the form of `textOfOctet`; lengths are checked.
}

function readPointer(message: Uint8Array, position: number, runStart: number): number {
  const high = message[position] ?? 0;
  const low = message[position + 1];
  if (high < 0xc0) throw new WireError('label of an unknown kind', position);
  if (low === undefined) throw new WireError('compression pointer leaves the message', position);
  const target = ((high & 0x3f) << 8) | low;
  if (target >= runStart) throw new WireError('compression pointer that does not point backwards', position);
  if (target < HEADER_OCTETS) throw new WireError('compression pointer into the header', position);
  return target;
}

function writeLabelText(message: Uint8Array, start: number, length: number, textStart: number): number {
  let at = textStart;
  for (let position = start; position < start + length; position += 1) {
    const octet = message[position] ?? 0;
    const text = textOfOctet(octet);
    if (text.length === 1) nameText[at++] = octet;
    else at += nameText.write(text, at, 'latin1');
  }
  nameText[at] = DOT;
  return at + 1;
}
