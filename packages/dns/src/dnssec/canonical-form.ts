/**
 * The canonical form and order of names and records, over which signatures are made (RFC 4034 section 6, RFC 6840 section 5.1).
 */
import { countLabels, encodeName, splitLabels, toKey } from '../name.ts';
import { OctetWriter } from '../octet-writer.ts';
import { typeOfData, writeData } from '../record-data.ts';
import type { AbsoluteName, NameKey, RecordData, ResourceRecord } from '../types.ts';
import { lowerNamesInside } from '../unknown-records.ts';

/**
 * A text for a name, so that the order of texts is the canonical order of names: the labels from the right, each ended by a
 * character that is lower than all octets of labels.
 */
export function canonicalText(name: NameKey): string {
  const wire = encodeName(name);
  const labels: string[] = [];
  for (let at = 0; at < wire.length - 1; at += (wire[at] ?? 0) + 1)
    labels.push(String.fromCharCode(...raised(wire.subarray(at + 1, at + 1 + (wire[at] ?? 0))), 0));
  return labels.toReversed().join('');
}

/** Makes room below all octets of a label for its end. */
function raised(label: Uint8Array): readonly number[] {
  return Array.from(label, (octet) => octet + 1);
}

/** For sorting by `canonicalText`. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The number of labels in an RRSIG record: without the root and the asterisk of a wildcard (RFC 4034 section 3.1.3). */
export function countSignedLabels(owner: AbsoluteName): number {
  return countLabels(owner) - (splitLabels(owner)[0] === '*' ? 1 : 0);
}

/** One writer for all, made for the first record: the octets are copied out of it. */
let writer: OctetWriter | undefined;

function takeWriter(): OctetWriter {
  if (writer === undefined) {
    writer = new OctetWriter();
    writer.compresses = false;
  }
  writer.position = 0;
  return writer;
}

/**
 * The data with its names uncompressed, and in lower case where the type is in the list of RFC 4034 section 6.2.
 *
 * @throws RecordDataError if it has no wire form
 */
export function encodeCanonicalData(data: RecordData): Uint8Array {
  const to = takeWriter();
  writeData(lowerNames(data), to);
  const octets = to.octets.slice(0, to.position);
  return data.kind === 'unknown' ? lowerNamesInside(data.type, octets) : octets;
}

/** Names in types younger than RFC 3597, such as SVCB, keep their letters. */
function lowerNames(data: RecordData): RecordData {
  switch (data.kind) {
    case 'NS':
    case 'CNAME':
    case 'PTR':
    case 'DNAME':
    case 'SRV':
      return { ...data, target: toKey(data.target) };
    case 'SOA':
      return { ...data, primary: toKey(data.primary), mailbox: toKey(data.mailbox) };
    case 'MX':
      return { ...data, exchange: toKey(data.exchange) };
    case 'NAPTR':
      return { ...data, replacement: toKey(data.replacement) };
    default:
      return data;
  }
}

/**
 * The records of one set in canonical form and order, each once (RFC 4034 sections 6.2 and 6.3).
 *
 * @param records with one owner, class and type; at least one
 * @param ttl the original TTL of all of them
 * @throws RecordDataError
 */
export function encodeCanonicalSet(records: readonly ResourceRecord[], ttl: number): Uint8Array {
  const [first] = records;
  if (first === undefined) return new Uint8Array(0);
  const head = Buffer.concat([encodeName(toKey(first.name)), Buffer.alloc(10)]);
  head.writeUInt16BE(typeOfData(first.data), head.length - 10);
  head.writeUInt16BE(first.class, head.length - 8);
  head.writeUInt32BE(ttl, head.length - 6);
  const sorted = records.map(({ data }) => encodeCanonicalData(data)).sort(Buffer.compare);
  const parts: Uint8Array[] = [];
  let last: Uint8Array | undefined;
  for (const data of sorted) {
    if (last !== undefined && Buffer.compare(last, data) === 0) continue;
    last = data;
    head.writeUInt16BE(data.length, head.length - 2);
    parts.push(Uint8Array.from(head), data);
  }
  return Buffer.concat(parts);
}
