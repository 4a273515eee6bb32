/**
 * All records of one name of a zone file.
 */

import { typeOfData } from '@portolan/dns/record-data.ts';
import { readCoveredType } from '@portolan/dns/signed-records.ts';
import { type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';

const NO_RECORDS: readonly ResourceRecord[] = [];

/** All records of one name, each as the file has it. */
export class ZoneName {
  readonly name: NameKey;
  readonly #byType = new Map<number, ResourceRecord[]>();

  constructor(name: NameKey) {
    this.name = name;
  }

  /** Whether it has any record. If not, it exists because of the names below it (RFC 8020). */
  get hasRecords(): boolean {
    return this.#byType.size > 0;
  }

  add(record: ResourceRecord): void {
    const type = typeOfData(record.data);
    const before = this.#byType.get(type);
    if (before === undefined) this.#byType.set(type, [record]);
    else before.push(record);
  }

  /** All its records, by type. */
  *all(): Generator<ResourceRecord> {
    for (const records of this.#byType.values()) yield* records;
  }

  records(type: number): readonly ResourceRecord[] {
    return this.#byType.get(type) ?? NO_RECORDS;
  }

  /** The records of a type, with their signatures for clients that want these (RFC 4034 section 3.1.1). */
  signed(type: number, isSigned: boolean): readonly ResourceRecord[] {
    const records = this.records(type);
    return isSigned && records.length > 0 ? [...records, ...this.signatures(type)] : records;
  }

  signatures(type: number): readonly ResourceRecord[] {
    return this.records(TYPE.RRSIG).filter((record) => coveredType(record) === type);
  }
}

/** The type that a signature covers; undefined if the record is no signature. */
export function coveredType({ data }: ResourceRecord): number | undefined {
  if (data.kind !== 'unknown' || data.type !== TYPE.RRSIG) return undefined;
  return readCoveredType(data.bytes);
}
