/**
 * The keys of a block, and the signatures that they have made.
 */
import { isKeySigningKey, isZoneSigningKey, readDnskeyFields } from '@portolan/dns/dnssec/dnskey.ts';
import { type EncodedSet, encodeSet, signSet, toRrsig } from '@portolan/dns/dnssec/rrsig.ts';
import { createSigningKey, type SigningKey } from '@portolan/dns/dnssec/signing-key.ts';
import { CLASS, type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { DnssecOptions, NamedKeyPair } from './options.ts';
import { SignatureCache } from './signature-cache.ts';

/** Whoever signs an answer is told how often a signature was there, and how often it was made. */
export interface SigningTally {
  hits: number;
  misses: number;
}

/** Seconds: the plugin cannot see the TTLs that records had in their zone. */
const ORIGINAL_TTL = 3600;
/** Seconds, around the time of signing: clocks may differ by time zones. */
const SINCE = 3 * 3600;
const UNTIL = 8 * 24 * 3600;

export class Signer {
  readonly #pairs: readonly NamedKeyPair[];
  readonly #keysOfKeys: readonly SigningKey[];
  readonly #keysOfOthers: readonly SigningKey[];
  readonly #cache: SignatureCache;

  constructor({ keys, capacity }: Pick<DnssecOptions, 'keys' | 'capacity'>) {
    this.#pairs = keys;
    this.#cache = new SignatureCache(capacity);
    const all = keys.map((pair) => ({ key: createSigningKey(pair), flags: readFlags(pair) }));
    const ofKeys = all.filter(isKeySigningKey);
    const ofOthers = all.filter(isZoneSigningKey);
    const isSplit = ofKeys.length > 0 && ofOthers.length > 0;
    this.#keysOfKeys = (isSplit ? ofKeys : all).map(({ key }) => key);
    this.#keysOfOthers = (isSplit ? ofOthers : all).map(({ key }) => key);
  }

  /** The number of sets whose signatures are kept. */
  get size(): number {
    return this.#cache.size;
  }

  /** The DNSKEY records of a zone. */
  keysFor(zone: NameKey): readonly ResourceRecord[] {
    return this.#pairs.map(({ ttl, dnskey }) => ({
      name: zone,
      class: CLASS.IN,
      ttl,
      data: { kind: 'unknown', type: TYPE.DNSKEY, bytes: dnskey },
    }));
  }

  /**
   * @param set of records with one owner, class and type; at least one
   * @param now seconds since the epoch
   * @returns one signature for each key
   * @throws RecordDataError
   */
  sign(
    set: readonly ResourceRecord[],
    zone: NameKey,
    now: number,
    tally: SigningTally,
  ): readonly ResourceRecord[] {
    const [first] = set;
    if (first === undefined) return [];
    const encoded = encodeSet(set, ORIGINAL_TTL);
    const { octets } = encoded;
    const key = `${Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1')}${zone}`;
    let signatures = this.#cache.get(key, now);
    tally[signatures === undefined ? 'misses' : 'hits'] += 1;
    signatures ??= this.#make(encoded, zone, now, key);
    return signatures.map((bytes) => toRrsig(first, bytes));
  }

  #make(set: EncodedSet, signer: NameKey, now: number, cacheKey: string): readonly Uint8Array[] {
    const validity = { inception: now - SINCE, expiration: now + UNTIL };
    const keys = set.type === TYPE.DNSKEY ? this.#keysOfKeys : this.#keysOfOthers;
    const signatures = keys.map((key) => signSet(set, { ...validity, key, signer }));
    if (signatures.length > 0) this.#cache.add(cacheKey, signatures, validity);
    return signatures;
  }
}

function readFlags({ dnskey }: NamedKeyPair): number {
  return readDnskeyFields(dnskey)?.flags ?? 0;
}
