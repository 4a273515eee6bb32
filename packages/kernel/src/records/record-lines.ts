/**
 * Records as lines of text, as snapshots had them: a letter for the kind, then keys and record in base64. They are only read.
 *
 *     S: octets of the key (2), the key, the record
 *     E: octets of the key (2), octets of the service's key (2), the keys, the record
 */
import { BlockBuffer } from '../table/block.ts';
import { isServiceRecord, isSliceRecord } from './check-record.ts';
import { isObjectLabel } from './drafts.ts';
import type { RecordWriter } from './record-writer.ts';

const HEAD = 2;
const buffer = new BlockBuffer();

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
  if (end > octets.length || !isServiceKey(key) || !isRecord(record, isServiceRecord)) return false;
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
  if (!isKey || !isServiceKey(service) || !isRecord(record, isSliceRecord)) return false;
  writer.putSliceRecord(key, service, record, list);
  return true;
}

/** Whether octets are the labels of a service and of its namespace. */
function isServiceKey(key: Uint8Array): boolean {
  const namespaceAt = 1 + (key[0] ?? 0);
  const end = namespaceAt + 1 + (key[namespaceAt] ?? 0);
  return end === key.length && isObjectLabel(key, 1, namespaceAt) && isObjectLabel(key, namespaceAt + 1, end);
}

/** Checks a record at a whole word. */
function isRecord(record: Uint8Array, check: typeof isServiceRecord): boolean {
  buffer.begin(record.length);
  buffer.octets.set(record);
  return record.length % 4 === 0 && check(buffer, 0, record.length);
}
