/**
 * Signatures of sets of records (RRSIG, RFC 4034 section 3).
 */
import { encodeName } from '../name.ts';
import { typeOfData } from '../record-data.ts';
import { FIXED_OCTETS, type Validity } from '../signed-records.ts';
import { type NameKey, type ResourceRecord, TYPE } from '../types.ts';
import { countSignedLabels, encodeCanonicalSet } from './canonical-form.ts';
import type { SigningKey } from './signing-key.ts';

/** One set, encoded once for all keys that sign it. */
export interface EncodedSet {
  readonly type: number;
  /** As an RRSIG record counts them. */
  readonly labels: number;
  /** Seconds. */
  readonly originalTtl: number;
  /** The records in canonical form and order. */
  readonly octets: Uint8Array;
}

export interface SigningTerms extends Validity {
  readonly key: SigningKey;
  /** The zone. */
  readonly signer: NameKey;
}

/**
 * @param records with one owner, class and type; at least one
 * @param originalTtl seconds
 * @throws RecordDataError
 */
export function encodeSet(records: readonly ResourceRecord[], originalTtl: number): EncodedSet {
  const [first] = records;
  return {
    type: first === undefined ? 0 : typeOfData(first.data),
    labels: first === undefined ? 0 : countSignedLabels(first.name),
    originalTtl,
    octets: encodeCanonicalSet(records, originalTtl),
  };
}

/**
 * Signs one set.
 *
 * @returns the data of the RRSIG record
 */
export function signSet(set: EncodedSet, terms: SigningTerms): Uint8Array {
  const { key, signer } = terms;
  const name = encodeName(signer);
  const head = Buffer.alloc(FIXED_OCTETS + name.length);
  head.writeUInt16BE(set.type, 0);
  head.writeUInt8(key.algorithm, 2);
  head.writeUInt8(set.labels, 3);
  head.writeUInt32BE(set.originalTtl, 4);
  // Serial number arithmetic: times after 2106 wrap around to 0 (RFC 4034 section 3.1.5).
  head.writeUInt32BE(terms.expiration >>> 0, 8);
  head.writeUInt32BE(terms.inception >>> 0, 12);
  head.writeUInt16BE(key.tag, 16);
  head.set(name, FIXED_OCTETS);
  const signature = key.sign(Buffer.concat([head, set.octets]));
  return Uint8Array.from(Buffer.concat([head, signature]));
}

/** The record with the signature of a set. @param set one record of it */
export function toRrsig(set: ResourceRecord, bytes: Uint8Array, ttl = set.ttl): ResourceRecord {
  return { name: set.name, class: set.class, ttl, data: { kind: 'unknown', type: TYPE.RRSIG, bytes } };
}

/** Sets of records in the order of their first ones. Signatures are no sets to be signed, and are left out. */
export function groupSets(records: readonly ResourceRecord[]): readonly (readonly ResourceRecord[])[] {
  const sets = new Map<string, ResourceRecord[]>();
  for (const record of records) {
    const type = typeOfData(record.data);
    if (type === TYPE.RRSIG) continue;
    const key = `${type} ${record.class} ${record.name.toLowerCase()}`;
    const set = sets.get(key);
    if (set === undefined) sets.set(key, [record]);
    else set.push(record);
  }
  return [...sets.values()];
}
