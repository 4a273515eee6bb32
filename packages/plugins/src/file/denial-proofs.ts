/**
 * The records that show a validator why an answer has no records of a name, or why a wildcard made them (RFC 4035 section 3.1.3,
 * RFC 5155 section 7.2).
 */
import { isWithin, joinName, toKey, toParent } from '@portolan/dns/name.ts';
import { type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import {
  type DenialChain,
  Nsec3Chain,
  NsecChain,
  readHashParameters,
  TYPE_NSEC3PARAM,
} from './denial-chains.ts';
import type { ZoneName } from './zone-name.ts';

/** The names of a zone. */
interface ProvableZone extends Iterable<ZoneName> {
  readonly origin: NameKey;
  readonly apex: ZoneName;
  /** The NSEC3 records by their hashes. */
  readonly hashed: ReadonlyMap<string, ZoneName>;
  find(name: NameKey): ZoneName | undefined;
}

/** The closest name above a missing one that exists, and the name one label below it towards the missing one. */
interface Encloser {
  readonly name: NameKey;
  readonly nextCloser: NameKey;
}

export class DenialProofs {
  readonly #zone: ProvableZone;
  readonly #chain: DenialChain;

  private constructor(zone: ProvableZone, chain: DenialChain) {
    this.#zone = zone;
    this.#chain = chain;
  }

  /** @returns undefined if the zone has no chain that starts at its apex: it is not signed as a whole */
  static of(zone: ProvableZone): DenialProofs | undefined {
    const { apex, hashed } = zone;
    if (apex.records(TYPE.NSEC).length > 0) {
      const names = [...zone].filter((each) => each.records(TYPE.NSEC).length > 0);
      return new DenialProofs(zone, new NsecChain(names));
    }
    const [parameters] = apex.records(TYPE_NSEC3PARAM).flatMap((record) => readHashParameters(record) ?? []);
    return parameters && new DenialProofs(zone, new Nsec3Chain(hashed, parameters));
  }

  /**
   * The proof that belongs to the answer to a question: of NXDOMAIN, NODATA, or a wildcard. Empty if the name itself has the records.
   *
   * @param name in the zone, above or at its delegations
   */
  of(name: NameKey, type: number): readonly ResourceRecord[] {
    const found = this.#zone.find(name);
    if (found !== undefined) return this.#records(hasAnswer(found, type) ? [] : this.#ofNoData(name));
    const encloser = this.#findClosestEncloser(name);
    if (encloser === undefined) return [];
    const wildcard = toKey(joinName('*', encloser.name));
    const made = this.#zone.find(wildcard);
    const gap = this.#chain.covering(encloser.nextCloser);
    if (made !== undefined && hasAnswer(made, type)) return this.#records([gap]);
    const denied = made === undefined ? this.#chain.covering(wildcard) : this.#chain.matching(wildcard);
    return this.#records([...this.#ofEncloser(encloser), denied]);
  }

  /** The proof that a delegation is not signed: it has no DS record. */
  ofDelegation(name: NameKey): readonly ResourceRecord[] {
    return this.#records(this.#ofNoData(name));
  }

  #ofNoData(name: NameKey): readonly (ZoneName | undefined)[] {
    const matching = this.#chain.matching(name);
    if (matching !== undefined) return [matching];
    // Without NSEC3 it exists only because of names below it. With it, it is in a span that opts out (RFC 5155 section 6).
    if (!this.#chain.provesEncloser) return [this.#chain.covering(name)];
    const encloser = this.#provable({ name: toParent(name) ?? name, nextCloser: name });
    return [this.#chain.matching(encloser.name), this.#chain.covering(encloser.nextCloser)];
  }

  #ofEncloser(encloser: Encloser): readonly (ZoneName | undefined)[] {
    if (!this.#chain.provesEncloser) return [this.#chain.covering(encloser.nextCloser)];
    const { name, nextCloser } = this.#provable(encloser);
    return [this.#chain.matching(name), this.#chain.covering(nextCloser)];
  }

  /** The encloser itself, or the first name above it that has an NSEC3 record: spans that opt out leave names out. */
  #provable(encloser: Encloser): Encloser {
    let { name, nextCloser } = encloser;
    while (this.#chain.matching(name) === undefined && name !== this.#zone.origin) {
      nextCloser = name;
      name = toParent(name) ?? this.#zone.origin;
    }
    return { name, nextCloser };
  }

  #findClosestEncloser(missing: NameKey): Encloser | undefined {
    let nextCloser = missing;
    for (let name = toParent(missing); name !== undefined; name = toParent(name)) {
      if (!isWithin(name, this.#zone.origin)) return undefined;
      if (this.#zone.find(name) !== undefined) return { name, nextCloser };
      nextCloser = name;
    }
    return undefined;
  }

  #records(names: readonly (ZoneName | undefined)[]): readonly ResourceRecord[] {
    return [...new Set(names)].flatMap((at) => (at === undefined ? [] : this.#chain.recordsAt(at)));
  }
}

function hasAnswer(at: ZoneName, type: number): boolean {
  return at.records(type).length > 0 || at.records(TYPE.CNAME).length > 0;
}
