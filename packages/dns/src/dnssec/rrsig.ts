/**
 * Signatures of sets of records (RRSIG, RFC 4034 section 3).
 */
import { encodeName } from '../name.ts';
import { typeOfData } from '../record-data.ts';
import { FIXED_OCTETS, type Validity } from '../signed-records.ts';
import { type NameKey, type ResourceRecord, TYPE } from '../types.ts';
import { countSignedLabels, encodeCanonicalSet } from './canonical-form.ts';
import type { SigningKey } from './signing-key.ts';

export interface SigningTerms extends Validity {
  readonly key: SigningKey;
  /** The zone. */
  readonly signer: NameKey;
  /** Seconds. */
  readonly originalTtl: number;
}

/**
 * Signs one set.
 *
 * @param records with one owner, class and type; at least one
 * @returns the data of the RRSIG record
 * @throws RecordDataError
 */
export function signSet(records: readonly ResourceRecord[], terms: SigningTerms): Uint8Array {
  const { key, signer, originalTtl } = terms;
  const name = encodeName(signer);
  const head = Buffer.alloc(FIXED_OCTETS + name.length);
  const [first] = records;
  if (first !== undefined) {
    head.writeUInt16BE(typeOfData(first.data), 0);
    head.writeUInt8(countSignedLabels(first.name), 3);
  }
  head.writeUInt8(key.algorithm, 2);
  head.writeUInt32BE(originalTtl, 4);
  // Serial number arithmetic: times after 2106 wrap around to 0 (RFC 4034 section 3.1.5).
  head.writeUInt32BE(terms.expiration >>> 0, 8);
  head.writeUInt32BE(terms.inception >>> 0, 12);
  head.writeUInt16BE(key.tag, 16);
  head.set(name, FIXED_OCTETS);
  const signature = key.sign(Buffer.concat([head, encodeCanonicalSet(records, originalTtl)]));
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
