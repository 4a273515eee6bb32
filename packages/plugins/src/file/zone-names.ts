/**
 * The names of a zone file, and their records.
 */
import { splitLabels, toKey, toParent } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import { type NameKey, type RecordData, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { TYPE_NSEC3 } from './denial-chains.ts';
import { DenialProofs } from './denial-proofs.ts';
import { coveredType, ZoneName } from './zone-name.ts';

/** The record with the names in lower case that CoreDNS has in lower case. SRV records keep their letters, as people see them. */
export function lowerNames(record: ResourceRecord): ResourceRecord {
  const { data } = record;
  if (data.kind === 'SRV') return record;
  return { ...record, name: toKey(record.name), data: lowerTargets(data) };
}

function lowerTargets(data: RecordData): RecordData {
  switch (data.kind) {
    case 'SOA':
      return { ...data, primary: toKey(data.primary), mailbox: toKey(data.mailbox) };
    case 'MX':
      return { ...data, exchange: toKey(data.exchange) };
    case 'NS':
    case 'CNAME':
    case 'SVCB':
    case 'HTTPS':
      return { ...data, target: toKey(data.target) };
    default:
      return data;
  }
}

export class ZoneNames {
  readonly origin: NameKey;
  readonly apex: ZoneName;
  /** The NSEC3 records by the hash in their first label. Their owners are no names of the zone (RFC 5155 section 7.2.8). */
  readonly hashed: ReadonlyMap<string, ZoneName>;
  /** Undefined: the zone is not signed. */
  readonly denial: DenialProofs | undefined;
  readonly #names = new Map<NameKey, ZoneName>();
  readonly #found = new WeakMap<readonly ResourceRecord[], readonly ResourceRecord[]>();
  readonly #hashed = new Map<string, ZoneName>();

  /** @param records those outside the zone are left out */
  constructor(origin: NameKey, records: readonly ResourceRecord[]) {
    this.origin = origin;
    this.apex = new ZoneName(origin);
    this.#names.set(origin, this.apex);
    // Of several SOA records the last one counts.
    const soa = records.findLast(({ name, data }) => data.kind === 'SOA' && toKey(name) === origin);
    for (const record of records)
      if (record.data.kind !== 'SOA' || record === soa)
        this.#getOrCreateName(record)?.add(lowerNames(record));
    this.hashed = this.#hashed;
    this.denial = DenialProofs.of(this);
  }

  [Symbol.iterator](): Iterator<ZoneName> {
    return this.#names.values();
  }

  #getOrCreateName(record: ResourceRecord): ZoneName | undefined {
    const name = toKey(record.name);
    const isHashed = typeOfData(record.data) === TYPE_NSEC3 || coveredType(record) === TYPE_NSEC3;
    if (!isHashed || toParent(name) !== this.origin) return this.#at(name);
    const [hash = ''] = splitLabels(name);
    const at = this.#hashed.get(hash) ?? new ZoneName(name);
    this.#hashed.set(hash, at);
    return at;
  }

  get soa(): ResourceRecord | undefined {
    return this.apex.records(TYPE.SOA)[0];
  }

  get serial(): number | undefined {
    const data = this.soa?.data;
    return data?.kind === 'SOA' ? data.serial : undefined;
  }

  /** All records but the SOA record: those of the apex first. */
  *records(): Generator<ResourceRecord> {
    for (const name of this.#names.values())
      for (const record of name.all()) if (record.data.kind !== 'SOA') yield record;
  }

  /** A name that exists, perhaps only because of names below it. */
  find(name: NameKey): ZoneName | undefined {
    return this.#names.get(name);
  }

  /** What belongs to a set of records, found once: a zone that was read does not change. */
  onceFor(
    records: readonly ResourceRecord[],
    find: () => readonly ResourceRecord[],
  ): readonly ResourceRecord[] {
    const known = this.#found.get(records);
    if (known !== undefined) return known;
    const found = find();
    this.#found.set(records, found);
    return found;
  }

  #at(name: NameKey): ZoneName | undefined {
    const missing: NameKey[] = [];
    let at: NameKey | undefined = name;
    while (at !== undefined && !this.#names.has(at)) {
      missing.push(at);
      at = toParent(at);
    }
    if (at === undefined) return undefined;
    for (const each of missing) this.#names.set(each, new ZoneName(each));
    return this.#names.get(name);
  }
}
