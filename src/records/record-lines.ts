/**
 * Records as lines of text, for a snapshot: a letter for the kind, then keys and record in base64. They are copied at once,
 * so that the lines show one moment however slowly they are taken.
 *
 *     S: octets of the key (2), the key, the record
 *     E: octets of the key (2), octets of the service's key (2), the keys, the record
 */

import { isServiceRecord, isSliceRecord } from './check-record.ts';
import { isObjectLabel } from './drafts.ts';
import { SERVICE, SERVICE_RECORD, SLICE } from './layout.ts';
import type { RecordWriter } from './record-writer.ts';

const HEAD = 2;

/** All services and slices as they are now. */
export function copyRecords(writer: RecordWriter): Iterable<string> {
  const { atoms, octets } = writer.space.views;
  const word = (at: number): number => atoms[at >> 2] ?? 0;
  const copies: [kind: string, copy: Buffer][] = [];
  const keyOf = (entry: number): Uint8Array =>
    octets.subarray(entry + SERVICE.KEY, entry + SERVICE.KEY + (word(entry + 4) & 0xff));
  for (const namespace of writer.namespaces())
    for (const entry of writer.servicesOf(namespace)) {
      const record = word(entry + SERVICE.RECORD);
      if (record === 0) continue;
      const body = octets.subarray(record, record + word(record + SERVICE_RECORD.SIZE));
      copies.push(['S', joinOctets([keyOf(entry)], body)]);
    }
  for (const slice of writer.slices.all()) {
    const record = word(slice + SLICE.RECORD);
    const key = octets.subarray(slice + SLICE.KEY, slice + SLICE.KEY + word(slice + SLICE.KEY_OCTETS));
    const body = octets.subarray(record, record + word(record));
    copies.push(['E', joinOctets([key, keyOf(word(slice + SLICE.SERVICE))], body)]);
  }
  return linesOf(copies);
}

function* linesOf(copies: readonly (readonly [kind: string, copy: Buffer])[]): Iterable<string> {
  for (const [kind, copy] of copies) yield `${kind}${copy.toString('base64')}`;
}

function joinOctets(keys: readonly Uint8Array[], record: Uint8Array): Buffer {
  const heads = Buffer.alloc(HEAD * keys.length);
  for (const [index, key] of keys.entries()) heads.writeUInt16LE(key.length, HEAD * index);
  return Buffer.concat([heads, ...keys, record]);
}

/** Whether a line is that of a record. */
export const isRecordLine = (line: string): boolean => line.startsWith('S') || line.startsWith('E');

/**
 * Takes in a record from a line.
 *
 * @param list the number of the list that it counts to
 * @returns whether it is one
 * @throws TableFullError
 */
export function putRecordLine(writer: RecordWriter, line: string, list: number): boolean {
  const octets = Buffer.from(line.slice(1), 'base64');
  return line.startsWith('S') ? putService(writer, octets, list) : putSlice(writer, octets, list);
}

function putService(writer: RecordWriter, octets: Buffer, list: number): boolean {
  if (octets.length < HEAD) return false;
  const end = HEAD + octets.readUInt16LE(0);
  const key = octets.subarray(HEAD, end);
  const record = octets.subarray(end);
  if (end > octets.length || !isServiceKey(key) || record.length % 4 !== 0 || !isServiceRecord(record))
    return false;
  writer.putServiceRecord(key, record, list);
  return true;
}

function putSlice(writer: RecordWriter, octets: Buffer, list: number): boolean {
  if (octets.length < 2 * HEAD) return false;
  const middle = 2 * HEAD + octets.readUInt16LE(0);
  const end = middle + octets.readUInt16LE(HEAD);
  if (end > octets.length) return false;
  const [key, service, record] = [
    octets.subarray(2 * HEAD, middle),
    octets.subarray(middle, end),
    octets.subarray(end),
  ];
  const namespaceEnd = 1 + (key[0] ?? 0);
  const isKey = key.length > namespaceEnd && isObjectLabel(key, 1, namespaceEnd);
  if (!isKey || !isServiceKey(service) || record.length % 4 !== 0 || !isSliceRecord(record)) return false;
  writer.putSliceRecord(key, service, record, list);
  return true;
}

/** Whether octets are the labels of a service and of its namespace. */
function isServiceKey(key: Uint8Array): boolean {
  const namespaceAt = 1 + (key[0] ?? 0);
  const end = namespaceAt + 1 + (key[namespaceAt] ?? 0);
  return end === key.length && isObjectLabel(key, 1, namespaceAt) && isObjectLabel(key, namespaceAt + 1, end);
}
