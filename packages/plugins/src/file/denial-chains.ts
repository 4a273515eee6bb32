/**
 * The NSEC or NSEC3 records of a signed zone, in the order in which they cover names (RFC 4034 section 6.1, RFC 5155 section 1.3).
 */
import { createHash } from 'node:crypto';
import { canonicalText, compareText } from '@portolan/dns/dnssec/canonical-form.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { ZoneName } from './zone-name.ts';

export const TYPE_NSEC3 = 50;
export const TYPE_NSEC3PARAM = 51;

/** The records of a zone that deny names. */
export interface DenialChain {
  /** Whether a proof also shows the closest encloser, since hashes do not (RFC 5155 section 7.2.1). */
  readonly provesEncloser: boolean;
  /** The name with the record of a name that exists; undefined: it has none. */
  matching(name: NameKey): ZoneName | undefined;
  /** The name with the record of the gap that a name falls into. */
  covering(name: NameKey): ZoneName | undefined;
  /** The record at a name, with its signatures. */
  recordsAt(at: ZoneName): readonly ResourceRecord[];
}

/** Owners by a text whose order is that of the chain. */
class OrderedOwners {
  readonly #owners: ReadonlyMap<string, ZoneName>;
  readonly #order: readonly string[];

  constructor(owners: ReadonlyMap<string, ZoneName>) {
    this.#owners = owners;
    this.#order = [...owners.keys()].sort(compareText);
  }

  at(text: string): ZoneName | undefined {
    return this.#owners.get(text);
  }

  /** The last owner before a text; before the first one comes the last of all. */
  before(text: string): ZoneName | undefined {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareText(this.#order[middle] ?? '', text) < 0) low = middle + 1;
      else high = middle;
    }
    return this.#owners.get(this.#order.at(low - 1) ?? '');
  }
}

export class NsecChain implements DenialChain {
  readonly provesEncloser = false;
  readonly #owners: OrderedOwners;

  /** @param names those with an NSEC record */
  constructor(names: Iterable<ZoneName>) {
    this.#owners = new OrderedOwners(new Map([...names].map((each) => [canonicalText(each.name), each])));
  }

  matching(name: NameKey): ZoneName | undefined {
    return this.#owners.at(canonicalText(name));
  }

  covering(name: NameKey): ZoneName | undefined {
    return this.#owners.before(canonicalText(name));
  }

  recordsAt(at: ZoneName): readonly ResourceRecord[] {
    return at.signed(TYPE.NSEC, true);
  }
}

/** Parameters of the hash: field values of NSEC3PARAM (RFC 5155 section 4.2). */
export interface HashParameters {
  readonly iterations: number;
  readonly salt: Uint8Array;
}

/** SHA-1, the only algorithm that there is. */
const SHA1 = 1;
/** More iterations make the zone insecure for validators (RFC 9276 section 3.2), and each denial dear. */
const MAX_ITERATIONS = 150;

/** @returns undefined if a record has another algorithm, a flag, or too many iterations */
export function readHashParameters({ data }: ResourceRecord): HashParameters | undefined {
  if (data.kind !== 'unknown') return undefined;
  const [algorithm, flags, high = 0, low = 0, length = 0] = data.bytes;
  const iterations = high * 256 + low;
  if (algorithm !== SHA1 || flags !== 0 || iterations > MAX_ITERATIONS) return undefined;
  return { iterations, salt: data.bytes.subarray(5, 5 + length) };
}

export class Nsec3Chain implements DenialChain {
  readonly provesEncloser = true;
  readonly #owners: OrderedOwners;
  readonly #parameters: HashParameters;

  /** @param names those with an NSEC3 record, by the hash in their first label, in lower case */
  constructor(names: ReadonlyMap<string, ZoneName>, parameters: HashParameters) {
    this.#owners = new OrderedOwners(names);
    this.#parameters = parameters;
  }

  matching(name: NameKey): ZoneName | undefined {
    return this.#owners.at(hashName(name, this.#parameters));
  }

  covering(name: NameKey): ZoneName | undefined {
    return this.#owners.before(hashName(name, this.#parameters));
  }

  recordsAt(at: ZoneName): readonly ResourceRecord[] {
    return at.signed(TYPE_NSEC3, true);
  }
}

/** The hash of a name in base32hex, in lower case (RFC 5155 section 5). */
export function hashName(name: NameKey, { iterations, salt }: HashParameters): string {
  let hash: Uint8Array = encodeName(name);
  for (let turn = 0; turn <= iterations; turn += 1)
    hash = createHash('sha1').update(hash).update(salt).digest();
  return encodeBase32Hex(hash);
}

const DIGITS = '0123456789abcdefghijklmnopqrstuv';

/** @param octets 20 of them: 32 digits without padding */
function encodeBase32Hex(octets: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const octet of octets) {
    held = ((held << 8) | octet) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += DIGITS[(held >> (bits - 5)) & 31];
  }
  return text;
}
