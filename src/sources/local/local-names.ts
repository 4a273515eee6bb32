/**
 * All local names: those of hosts files and those of options, with the records of each.
 *
 * Immutable: a change makes another one. What a name does not have others may know, so nothing here ever says no, except
 * that an alias hides whatever else stands at its name (RFC 1034 section 3.6.2).
 */
import { formatAddress, parseAddress } from '../../wire/address.ts';
import type { AddressMatch } from '../../wire/address-range.ts';
import { parentOf, ROOT, toKey } from '../../wire/name.ts';
import { typeOfData } from '../../wire/record-data.ts';
import { CLASS, type NameKey, type RecordData, type ResourceRecord, TYPE } from '../../wire/types.ts';
import type { ZoneNode } from '../../zone/node.ts';
import { type NamedSet, type RecordSet, recordSet, recordsOf } from '../../zone/record-set.ts';
import type { HostNames } from './host-names.ts';
import type { Cname, LocalNamesPlan } from './local-plan.ts';

export interface LocalAnswer {
  /** The aliases on the way, in their order, then what was asked for. At least one. */
  readonly records: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
}

/** Where the aliases of a name lead. */
interface End {
  readonly name: NameKey;
  readonly aliases: readonly ResourceRecord[];
}

/** Aliases of aliases that are followed for one question, as in dnsmasq. */
const MAX_ALIASES = 9;
const MX_PREFERENCE = 1;

export class LocalNames {
  readonly #plan: LocalNamesPlan;
  readonly #hosts: HostNames;
  readonly #outcome: number;
  /** Those of options. */
  readonly #sets: ReadonlyMap<NameKey, readonly RecordSet[]>;
  readonly #cnames: ReadonlyMap<NameKey, Cname>;
  #parents: ReadonlySet<NameKey> | undefined;

  /** @param outcome the counter of hits, 0 to 255 */
  constructor(plan: LocalNamesPlan, hosts: HostNames, outcome: number) {
    this.#plan = plan;
    this.#hosts = hosts;
    this.#outcome = outcome;
    this.#sets = groupRecords(plan.records);
    // Of two with one alias the first counts.
    this.#cnames = new Map(plan.cnames.toReversed().map((cname) => [cname.alias, cname]));
  }

  /** What is known; nothing if that is for others to say. ANY asks for all that is known. */
  answer(name: NameKey, type: number): LocalAnswer | undefined {
    const end = this.#followAliases(name);
    if (type === TYPE.CNAME && end.aliases.length > 0)
      return { records: end.aliases.slice(0, 1), additionals: [] };
    const sets = this.#setsAt(end.name).filter((set) => set.type === type || type === TYPE.ANY);
    const records = [...end.aliases, ...sets.flatMap((set) => recordsOf(end.name, set))];
    if (records.length === 0) return undefined;
    const along = sets.flatMap(({ additional }) => (additional === 'elsewhere' ? [] : additional));
    return { records, additionals: along.flatMap((named) => recordsOf(named.name, named.set)) };
  }

  /** Whether anything is known of a name. */
  knows(name: NameKey): boolean {
    return this.#hosts.get(name) !== undefined || this.#sets.has(name) || this.#cnames.has(name);
  }

  /** Whether a name is known, or one below it: then it cannot be said that there is no such name (RFC 8020). */
  exists(name: NameKey): boolean {
    if (this.knows(name)) return true;
    // Most servers never need to know.
    this.#parents ??= parentsOf([this.#hosts.names(), this.#sets.keys(), this.#cnames.keys()]);
    return this.#parents.has(name);
  }

  /** Whether the addresses in an answer depend on the client. */
  isLocalised(name: NameKey): boolean {
    if (!this.#plan.localisesQueries) return false;
    const addresses = this.#hosts.get(this.#followAliases(name).name)?.addresses ?? [];
    return addresses.filter(({ address }) => !address.includes(':')).length > 1;
  }

  /** The hosts file that a record of ours is from; nothing for one of an option. */
  fileOf({ name, data }: ResourceRecord): string | undefined {
    const key = toKey(name);
    if (data.kind === 'PTR') return this.#hosts.pointer(key)?.file;
    if (data.kind !== 'A' && data.kind !== 'AAAA') return undefined;
    return this.#hosts.get(key)?.addresses.find(({ address }) => address === data.address)?.file;
  }

  /** All names with records of their own, each once. */
  *names(): Iterable<NameKey> {
    yield* this.#hosts.names();
    for (const name of this.#hosts.reverseNames()) if (this.#hosts.get(name) === undefined) yield name;
    const isOfHosts = (name: NameKey) =>
      this.#hosts.get(name) !== undefined || this.#hosts.pointer(name) !== undefined;
    for (const name of this.#sets.keys()) if (!isOfHosts(name)) yield name;
    for (const name of this.#cnames.keys()) if (!isOfHosts(name) && !this.#sets.has(name)) yield name;
  }

  /** Whether a name has records of its own: it is known, or the reverse name of an address. */
  has(name: NameKey): boolean {
    return this.knows(name) || this.#hosts.pointer(name) !== undefined;
  }

  /** Equal for names whose nodes are equal; empty where that takes the nodes themselves to know. */
  digest(name: NameKey): string {
    const isMore = this.#sets.has(name) || this.#cnames.has(name) || this.#plan.mxOfHosts.kind !== 'none';
    const { pointer, addresses } = this.#hostOf(name);
    if (isMore) return '';
    return `${addresses?.key ?? ''} ${pointer === undefined ? '' : `${pointer.ttl} ${pointer.target}`}`;
  }

  /** Whether clients of a network get other addresses than all others. @param isNear whether an address is in the network */
  isLocalisedFor(isNear: AddressMatch, name: NameKey): boolean {
    if (!this.isLocalised(name)) return false;
    const addresses = this.#setsAt(this.#followAliases(name).name).find(({ type }) => type === TYPE.A)?.data;
    const near = addresses?.filter(isAddressIn(isNear)).length ?? 0;
    return near > 0 && near < (addresses?.length ?? 0);
  }

  /**
   * What the table is to hold at a name.
   *
   * @param isNear of these IPv4 addresses alone, for clients of a network; default: of all
   */
  node(name: NameKey, isNear?: AddressMatch): ZoneNode {
    const end = this.#followAliases(name);
    const all = this.#setsAt(end.name);
    const sets = isNear === undefined ? all : all.map((set) => chooseNear(set, isNear));
    const { aliases } = end;
    const [first] = aliases;
    return {
      name,
      sets: first === undefined ? sets : [aliasSet(first), ...sets.map((set) => ({ ...set, aliases }))],
      alias: undefined,
      below: { kind: 'ask', labels: 0 },
      outcome: this.#outcome,
      isOpen: true,
    };
  }

  #hostOf(name: NameKey) {
    return { addresses: this.#hosts.get(name), pointer: this.#hosts.pointer(name) };
  }

  #followAliases(name: NameKey): End {
    const aliases: ResourceRecord[] = [];
    let at = name;
    let cname = this.#cnames.get(at);
    while (cname !== undefined && aliases.length < MAX_ALIASES) {
      const data = { kind: 'CNAME', target: cname.target } as const;
      aliases.push({ name: at, class: CLASS.IN, ttl: cname.ttl, data });
      at = cname.target;
      cname = this.#cnames.get(at);
    }
    return { name: at, aliases };
  }

  /** All sets at a name that is no alias. Those of options come before those of hosts files. */
  #setsAt(name: NameKey): readonly RecordSet[] {
    const { addresses, pointer } = this.#hostOf(name);
    const own = this.#sets.get(name);
    const hosts = addresses?.sets ?? [];
    if (own === undefined && pointer === undefined && this.#plan.mxOfHosts.kind === 'none') return hosts;
    const sets = (own ?? []).map((set) => this.#withAddresses(set));
    const hasType = (type: number) => sets.some((set) => set.type === type);
    sets.push(...hosts.filter((set) => !hasType(set.type)));
    if (pointer !== undefined && !hasType(TYPE.PTR))
      sets.push(recordSet(TYPE.PTR, pointer.ttl, [{ kind: 'PTR', target: pointer.target }]));
    const exchange = addresses === undefined ? undefined : this.#exchangeOf(name);
    if (exchange !== undefined && !hasType(TYPE.MX)) sets.push(this.#mailSet(exchange));
    return sets;
  }

  #exchangeOf(name: NameKey): NameKey | undefined {
    const { mxOfHosts } = this.#plan;
    if (mxOfHosts.kind === 'target') return mxOfHosts.target;
    return mxOfHosts.kind === 'self' ? name : undefined;
  }

  #mailSet(exchange: NameKey): RecordSet {
    return recordSet(TYPE.MX, this.#plan.ttl, [{ kind: 'MX', preference: MX_PREFERENCE, exchange }]);
  }

  /** MX and SRV records bring along the addresses that are known of their targets. */
  #withAddresses(set: RecordSet): RecordSet {
    const targets = new Set(set.data.flatMap(targetsOf));
    const additional = [...targets].flatMap((name): NamedSet[] =>
      (this.#hosts.get(name)?.sets ?? []).map((each) => ({ name, set: each })),
    );
    return additional.length === 0 ? set : { ...set, additional };
  }
}

const isAddressIn =
  (isNear: AddressMatch) =>
  (data: RecordData): boolean => {
    const octets = data.kind === 'A' ? parseAddress(data.address) : undefined;
    return octets !== undefined && isNear(octets);
  };

function chooseNear(set: RecordSet, isNear: AddressMatch): RecordSet {
  return set.type === TYPE.A ? { ...set, data: set.data.filter(isAddressIn(isNear)) } : set;
}

function targetsOf(data: RecordData): readonly NameKey[] {
  if (data.kind === 'SRV') return [toKey(data.target)];
  return data.kind === 'MX' ? [toKey(data.exchange)] : [];
}

function aliasSet({ ttl, data }: ResourceRecord): RecordSet {
  return recordSet(TYPE.CNAME, ttl, [data]);
}

function groupRecords(records: readonly ResourceRecord[]): ReadonlyMap<NameKey, readonly RecordSet[]> {
  const sets = new Map<NameKey, RecordSet[]>();
  for (const record of records) {
    const data = readable(record.data);
    const type = typeOfData(data);
    // Octets of the wrong length for an address of the type.
    if (data.kind === 'unknown' && (type === TYPE.A || type === TYPE.AAAA)) continue;
    const name = toKey(record.name);
    const here = sets.get(name) ?? [];
    const at = here.findIndex((set) => set.type === type);
    const before = here[at];
    if (before === undefined) here.push(recordSet(type, record.ttl, [data]));
    else here[at] = recordSet(type, Math.min(before.ttl, record.ttl), [...before.data, data]);
    sets.set(name, here);
  }
  return sets;
}

/** Addresses given as octets are addresses all the same. */
function readable(data: RecordData): RecordData {
  if (data.kind !== 'unknown') return data;
  const { type, bytes } = data;
  if (type === TYPE.A && bytes.length === 4) return { kind: 'A', address: formatAddress(bytes) };
  if (type === TYPE.AAAA && bytes.length === 16) return { kind: 'AAAA', address: formatAddress(bytes) };
  return data;
}

function parentsOf(lists: readonly Iterable<NameKey>[]): ReadonlySet<NameKey> {
  const parents = new Set<NameKey>();
  for (const names of lists)
    for (const name of names)
      for (let at = parentOf(name); at !== undefined && at !== ROOT && !parents.has(at); at = parentOf(at))
        parents.add(at);
  return parents;
}
