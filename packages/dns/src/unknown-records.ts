/**
 * All types without a form of their own here (RFC 3597).
 *
 * Data of old types may have compressed names (RFC 3597 section 4). Their pointers are only valid inside their message,
 * so reading such a record expands the names.
 */
import { encodeName } from './name-wire.ts';
import type { OctetReader } from './octet-reader.ts';
import type { OctetWriter } from './octet-writer.ts';
import type { DataOf } from './record-codec.ts';

/** By type: the octets before the first name, and how many names follow; the rest stays as it is. */
const NAMES_INSIDE: ReadonlyMap<number, { readonly before: number; readonly names: number }> = new Map([
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
  const parts = [from.bytes(inside.before)];
  for (let count = 0; count < inside.names; count += 1) parts.push(encodeName(from.name()));
  parts.push(from.rest());
  return { kind: 'unknown', type, bytes: Uint8Array.from(Buffer.concat(parts)) };
}

export function writeUnknown(data: DataOf<'unknown'>, into: OctetWriter): void {
  into.bytes(data.bytes);
}

/** RFC 3597 section 5. */
export function presentUnknown(data: DataOf<'unknown'>): string {
  const hex = Buffer.from(data.bytes).toString('hex').toUpperCase();
  return hex === '' ? '\\# 0' : `\\# ${data.bytes.length} ${hex}`;
}
