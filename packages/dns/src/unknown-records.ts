/**
 * All types without a form of their own here (RFC 3597).
 *
 * Data of old types may have compressed names (RFC 3597 section 4). Their pointers are only valid inside their message,
 * so reading such a record expands the names.
 */

import { toKey } from './name.ts';
import { encodeName } from './name-wire.ts';
import { OctetReader } from './octet-reader.ts';
import type { OctetWriter } from './octet-writer.ts';
import type { DataOf } from './record-codec.ts';
import { presentSigned } from './signed-records.ts';
import type { AbsoluteName } from './types.ts';

/** The octets before the first name, and how many names follow; the rest stays as it is. */
interface NamesInside {
  readonly before: number;
  readonly names: number;
}

/** By type. */
const NAMES_INSIDE: ReadonlyMap<number, NamesInside> = new Map([
  [3, { before: 0, names: 1 }], // MD
  [4, { before: 0, names: 1 }], // MF
  [7, { before: 0, names: 1 }], // MB
  [8, { before: 0, names: 1 }], // MG
  [9, { before: 0, names: 1 }], // MR
  [14, { before: 0, names: 2 }], // MINFO
  [17, { before: 0, names: 2 }], // RP
  [18, { before: 2, names: 1 }], // AFSDB
  [21, { before: 2, names: 1 }], // RT
  [24, { before: 18, names: 1 }], // SIG
  [26, { before: 2, names: 2 }], // PX
  [30, { before: 0, names: 1 }], // NXT
  [36, { before: 2, names: 1 }], // KX
]);

export function readUnknown(type: number, from: OctetReader): DataOf<'unknown'> {
  const inside = from.remaining === 0 ? undefined : NAMES_INSIDE.get(type);
  if (inside === undefined) return { kind: 'unknown', type, bytes: from.rest() };
  return { kind: 'unknown', type, bytes: readNames(from, inside, (name) => name) };
}

/** The octets with their names expanded, each as `change` writes it. */
function readNames(
  from: OctetReader,
  inside: NamesInside,
  change: (name: AbsoluteName) => AbsoluteName,
): Uint8Array {
  const parts = [from.bytes(inside.before)];
  for (let count = 0; count < inside.names; count += 1) parts.push(encodeName(change(from.name())));
  parts.push(from.rest());
  return Uint8Array.from(Buffer.concat(parts));
}

/**
 * The data with its names in lower case (RFC 4034 section 6.2).
 *
 * @param bytes as `readUnknown` returns them
 */
export function lowerNamesInside(type: number, bytes: Uint8Array): Uint8Array {
  const inside = NAMES_INSIDE.get(type);
  return inside === undefined ? bytes : readNames(new OctetReader(bytes, 0), inside, toKey);
}

export function writeUnknown(data: DataOf<'unknown'>, into: OctetWriter): void {
  into.bytes(data.bytes);
}

/** The records of DNSSEC in their own form, all others as RFC 3597 section 5 says. */
export function presentUnknown(data: DataOf<'unknown'>): string {
  const signed = presentSigned(data.type, data.bytes);
  if (signed !== undefined) return signed;
  const hex = Buffer.from(data.bytes).toString('hex').toUpperCase();
  return hex === '' ? '\\# 0' : `\\# ${data.bytes.length} ${hex}`;
}
