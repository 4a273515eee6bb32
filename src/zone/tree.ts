/**
 * A zone's nodes in memory, built from record sets: for zones that come from files.
 */
import { NO_OUTCOME } from '../table/outcomes.ts';
import { parentOf, toKey } from '../wire/name.ts';
import { type AbsoluteName, type NameKey, TYPE } from '../wire/types.ts';
import { COMPLETE, type NameSource, type ZoneNode } from './node.ts';
import { NO_ADDITIONAL, type RecordSet } from './record-set.ts';

/** A record set that cannot be added at its owner. */
export class ZoneTreeError extends Error {
  override readonly name = 'ZoneTreeError';
  readonly owner: AbsoluteName;
  readonly type: number;

  constructor(what: string, owner: AbsoluteName, type: number) {
    super(`${what}: ${owner} type ${type}`);
    this.owner = owner;
    this.type = type;
  }
}

/** Types whose answers include the addresses of their targets. */
const HAS_TARGETS: ReadonlySet<number> = new Set([TYPE.NS, TYPE.MX, TYPE.SRV]);

export class ZoneTree implements NameSource {
  readonly apex: NameKey;
  readonly #sets = new Map<NameKey, RecordSet[]>();
  readonly #outcome: number;
  #hasCuts = false;
  #hasWildcards = false;

  /** @param outcome the counter of hits */
  constructor(apex: NameKey, outcome: number = NO_OUTCOME) {
    this.apex = apex;
    this.#outcome = outcome;
    this.#sets.set(apex, []);
  }

  get hasCuts(): boolean {
    return this.#hasCuts;
  }

  get hasWildcards(): boolean {
    return this.#hasWildcards;
  }

  /**
   * Adds a record set, and the empty non-terminals above its owner.
   *
   * @throws ZoneTreeError if the owner is outside the zone, has this type already, or has a CNAME and other data
   */
  add(owner: AbsoluteName, set: RecordSet): void {
    const name = toKey(owner);
    const sets = this.#at(name, owner, set.type);
    if (sets.some((other) => other.type === set.type))
      throw new ZoneTreeError('second record set of a type', owner, set.type);
    const hasCname = set.type === TYPE.CNAME || sets.some((other) => other.type === TYPE.CNAME);
    // RFC 1034 section 3.6.2.
    if (hasCname && sets.length > 0) throw new ZoneTreeError('CNAME beside other data', owner, set.type);
    const elsewhere = HAS_TARGETS.has(set.type) && set.additional === NO_ADDITIONAL;
    sets.push(elsewhere ? { ...set, additional: 'elsewhere' } : set);
    if (set.type === TYPE.NS && name !== this.apex) this.#hasCuts = true;
    if (name.startsWith('*.')) this.#hasWildcards = true;
  }

  find(name: NameKey): ZoneNode | undefined {
    const sets = this.#sets.get(name);
    return sets && { name, sets, alias: undefined, below: COMPLETE, outcome: this.#outcome };
  }

  /** All nodes, ancestors first. */
  *nodes(): Iterable<ZoneNode> {
    const names = [...this.#sets.keys()].sort((one, other) => one.length - other.length);
    for (const name of names) {
      const node = this.find(name);
      if (node !== undefined) yield node;
    }
  }

  #at(name: NameKey, owner: AbsoluteName, type: number): RecordSet[] {
    const missing: NameKey[] = [];
    for (let at: NameKey | undefined = name; at === undefined || !this.#sets.has(at); at = parentOf(at)) {
      if (at === undefined) throw new ZoneTreeError('record set outside the zone', owner, type);
      missing.push(at);
    }
    for (const at of missing) this.#sets.set(at, []);
    return this.#sets.get(name) ?? [];
  }
}
