/**
 * Signs a whole zone (RFC 4035 section 2): keys, NSEC records, and the signatures of all sets that the zone is authoritative for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalText, compareText } from '@portolan/dns/dnssec/canonical-form.ts';
import { DIGEST, encodeDelegationSigner } from '@portolan/dns/dnssec/dnskey.ts';
import { makeNsec } from '@portolan/dns/dnssec/nsec.ts';
import { encodeSet, groupSets, signSet, toRrsig } from '@portolan/dns/dnssec/rrsig.ts';
import { createSigningKey, type KeyPair } from '@portolan/dns/dnssec/signing-key.ts';
import { isWithin, toKey, toParent } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import type { Validity } from '@portolan/dns/signed-records.ts';
import { CLASS, type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { TYPE_NSEC3, TYPE_NSEC3PARAM } from '../file/denial-chains.ts';
import { lowerNames } from '../file/zone-names.ts';

export interface ZoneSigning {
  readonly origin: NameKey;
  readonly keys: readonly KeyPair[];
  readonly validity: Validity;
  /** The new serial of the zone. */
  readonly serial: number;
}

/** Types that signing makes: those of the file are left out. */
const MADE: ReadonlySet<number> = new Set([
  TYPE.RRSIG,
  TYPE.NSEC,
  TYPE.DNSKEY,
  TYPE.CDS,
  TYPE.CDNSKEY,
  TYPE_NSEC3,
  TYPE_NSEC3PARAM,
]);
/** How many sets are signed before others have a turn: some 2 ms with a key of P-256. */
const SETS_IN_A_TURN = 32;

/** A zone without an SOA record cannot be signed. */
export class ZoneError extends Error {
  override readonly name = 'ZoneError';
}

/** One name, with its sets by type. */
interface OwnerSets {
  readonly name: NameKey;
  readonly sets: readonly (readonly ResourceRecord[])[];
  /** `cut`: a delegation. `below`: the names of another zone. */
  readonly place: 'zone' | 'cut' | 'below';
}

/**
 * @param records of the zone; those outside are left out
 * @returns first the SOA record, then by names in canonical order
 * @throws ZoneError, RecordDataError, KeyError
 */
export async function signZone(
  records: readonly ResourceRecord[],
  signing: ZoneSigning,
): Promise<readonly ResourceRecord[]> {
  const { origin, validity } = signing;
  const soa = findSoa(records, signing);
  const own = records.filter(
    ({ name, data }) => isWithin(toKey(name), origin) && data.kind !== 'SOA' && !MADE.has(typeOfData(data)),
  );
  // As `file` serves them: it changes letters that signatures of service bindings cover.
  const served = [soa, ...own].map(lowerNames);
  const owners = listOwners([...served, ...makeKeyRecords(signing, soa.ttl)], origin);
  const keys = signing.keys.map(createSigningKey);
  const signed: ResourceRecord[] = [];
  let turn = 0;
  for (const set of withDenials(owners, soa)) {
    signed.push(...set.records);
    if (!set.isSigned) continue;
    const [first] = set.records;
    if (first === undefined) continue;
    const encoded = encodeSet(set.records, first.ttl);
    for (const key of keys) {
      signed.push(toRrsig(first, signSet(encoded, { ...validity, key, signer: origin })));
      turn += 1;
      if (turn % SETS_IN_A_TURN === 0) await nextTurn();
    }
  }
  return signed;
}

/** Of several SOA records the last one counts. */
function findSoa(records: readonly ResourceRecord[], { origin, serial }: ZoneSigning): ResourceRecord {
  const soa = records.findLast(({ name, data }) => data.kind === 'SOA' && toKey(name) === origin);
  if (soa?.data.kind !== 'SOA') throw new ZoneError(`no SOA record for ${origin}`);
  return { ...soa, data: { ...soa.data, serial } };
}

/** DNSKEY records, and what tells the parent zone of them (RFC 7344). */
function makeKeyRecords({ keys, origin }: ZoneSigning, ttl: number): readonly ResourceRecord[] {
  const record = (type: number, bytes: Uint8Array): ResourceRecord => ({
    name: origin,
    class: CLASS.IN,
    ttl,
    data: { kind: 'unknown', type, bytes },
  });
  return keys.flatMap(({ dnskey }) => [
    record(TYPE.DNSKEY, dnskey),
    record(TYPE.CDS, encodeDelegationSigner(origin, dnskey, DIGEST.SHA1)),
    record(TYPE.CDS, encodeDelegationSigner(origin, dnskey, DIGEST.SHA256)),
    record(TYPE.CDNSKEY, dnskey),
  ]);
}

/** In canonical order, the apex first. */
function listOwners(records: readonly ResourceRecord[], origin: NameKey): readonly OwnerSets[] {
  const sets = new Map<NameKey, (readonly ResourceRecord[])[]>();
  for (const set of groupSets(records)) {
    const [first] = set;
    if (first === undefined) continue;
    // All records of a set have one TTL (RFC 2181 section 5.2).
    const even = set.map((record) => ({ ...record, ttl: first.ttl }));
    const name = toKey(first.name);
    const known = sets.get(name);
    if (known === undefined) sets.set(name, [even]);
    else known.push(even);
  }
  const hasCut = (name: NameKey): boolean =>
    name !== origin && sets.get(name)?.some(([first]) => first?.data.kind === 'NS') === true;
  const isBelowCut = (name: NameKey): boolean => {
    for (let at = toParent(name); at !== undefined && isWithin(at, origin); at = toParent(at))
      if (hasCut(at)) return true;
    return false;
  };
  return [...sets]
    .map(([name, ofName]) => ({ text: canonicalText(name), name, sets: ofName }))
    .sort((one, other) => compareText(one.text, other.text))
    .map(({ name, sets: ofName }) => ({
      name,
      sets: ofName,
      place: isBelowCut(name) ? 'below' : hasCut(name) ? 'cut' : 'zone',
    }));
}

/** All sets, with an NSEC record for each name of the zone: its TTL is that of denials (RFC 9077). */
function* withDenials(
  owners: readonly OwnerSets[],
  soa: ResourceRecord,
): Iterable<{ readonly records: readonly ResourceRecord[]; readonly isSigned: boolean }> {
  const names = owners.filter(({ place }) => place !== 'below').map(({ name }) => name);
  const next = new Map(names.map((name, index) => [name, names[index + 1] ?? names[0] ?? name]));
  const ttl = soa.data.kind === 'SOA' ? Math.min(soa.ttl, soa.data.minimum) : soa.ttl;
  for (const { name, sets, place } of owners) {
    const isOurs = (set: readonly ResourceRecord[]) =>
      place === 'zone' || (place === 'cut' && set.some(({ data }) => typeOfData(data) === TYPE.DS));
    for (const records of sets) yield { records, isSigned: isOurs(records) };
    if (place === 'below') continue;
    // Of a delegation, the addresses of its name are those of the zone below.
    const listed = sets.filter((set) => isOurs(set) || set.some(({ data }) => data.kind === 'NS'));
    const types = listed.flatMap(([first]) => (first === undefined ? [] : [typeOfData(first.data)]));
    const denial = makeNsec({
      name,
      ttl,
      next: next.get(name) ?? name,
      types: [...types, TYPE.RRSIG, TYPE.NSEC],
    });
    yield { records: [denial], isSigned: true };
  }
}
