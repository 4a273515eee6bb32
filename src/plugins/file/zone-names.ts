/**
 * The names of a zone file, and their records.
 */
import { parentOf, toKey } from '../../wire/name.ts';
import { typeOfData } from '../../wire/record-data.ts';
import { type NameKey, type ResourceRecord, TYPE } from '../../wire/types.ts';

const TYPE_RRSIG = 46;
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

  records(type: number): readonly ResourceRecord[] {
    return this.#byType.get(type) ?? NO_RECORDS;
  }

  /** The records of a type, with their signatures for clients that want these (RFC 4034 section 3.1.1). */
  signed(type: number, isSigned: boolean): readonly ResourceRecord[] {
    const records = this.records(type);
    return isSigned && records.length > 0 ? [...records, ...this.signatures(type)] : records;
  }

  signatures(type: number): readonly ResourceRecord[] {
    return this.records(TYPE_RRSIG).filter(
      ({ data }) => data.kind === 'unknown' && (((data.bytes[0] ?? 0) << 8) | (data.bytes[1] ?? 0)) === type,
    );
  }
}

export class ZoneNames {
  readonly origin: NameKey;
  readonly apex: ZoneName;
  readonly #names = new Map<NameKey, ZoneName>();

  /** @param records those outside the zone are left out */
  constructor(origin: NameKey, records: readonly ResourceRecord[]) {
    this.origin = origin;
    this.apex = new ZoneName(origin);
    this.#names.set(origin, this.apex);
    // Of several SOA records the last one counts.
    const soa = records.findLast(({ name, data }) => data.kind === 'SOA' && toKey(name) === origin);
    for (const record of records)
      if (record.data.kind !== 'SOA' || record === soa) this.#at(toKey(record.name))?.add(record);
  }

  get soa(): ResourceRecord | undefined {
    return this.apex.records(TYPE.SOA)[0];
  }

  get serial(): number | undefined {
    const data = this.soa?.data;
    return data?.kind === 'SOA' ? data.serial : undefined;
  }

  /** A name that exists, perhaps only because of names below it. */
  find(name: NameKey): ZoneName | undefined {
    return this.#names.get(name);
  }

  #at(name: NameKey): ZoneName | undefined {
    const missing: NameKey[] = [];
    let at: NameKey | undefined = name;
    while (at !== undefined && !this.#names.has(at)) {
      missing.push(at);
      at = parentOf(at);
    }
    if (at === undefined) return undefined;
    for (const each of missing) this.#names.set(each, new ZoneName(each));
    return this.#names.get(name);
  }
}
