/**
 * All local names, from hosts files and from options, with their records.
 *
 * Immutable: a change makes another one. Others may know the records that a name lacks here, so it never denies them, except
 * that an alias hides all other records of its name (RFC 1034 section 3.6.2).
 */
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import type { AddressMatch } from '@portolan/dns/address-range.ts';
import { encodeName, toKey } from '@portolan/dns/name.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import {
  CLASS,
  type NameKey,
  type RecordData,
  type ResourceRecord,
  TYPE,
  type WireName,
} from '@portolan/dns/types.ts';
import type { HostAddress, HostNames } from '@portolan/kernel/records/hosts/host-names.ts';
import { compileNode } from '@portolan/kernel/zone/compile.ts';
import type { ZoneNode } from '@portolan/kernel/zone/node.ts';
import { type NamedSet, type RecordSet, recordSet, toRecords } from '@portolan/kernel/zone/record-set.ts';
import type { Cname, LocalNamesPlan } from './local-plan.ts';
import type { CountedNames, PublishedNames } from './local-publication.ts';
import { NameSet } from './name-set.ts';

export interface LocalAnswer {
  /** The aliases followed, in order, then the records asked for. At least one. */
  readonly records: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
}

/** The end of a chain of aliases. */
interface AliasesEnd {
  readonly name: NameKey;
  readonly aliases: readonly ResourceRecord[];
}

/** Aliases of aliases that are followed for one question, as in dnsmasq. */
const MAX_ALIASES = 9;
const MX_PREFERENCE = 1;
/** Names compared without a pause: less than a millisecond. */
const STRETCH = 500;
/** Others may know names below. */
const BELOW = { kind: 'ask', labels: 0 } as const;

export class LocalNames {
  readonly #plan: LocalNamesPlan;
  readonly #hosts: HostNames;
  readonly #outcome: number;
  /** Record sets of options. */
  readonly #sets: ReadonlyMap<NameKey, readonly RecordSet[]>;
  readonly #cnames: ReadonlyMap<NameKey, Cname>;
  /** The names of `#sets` and `#cnames`. */
  readonly #ofOptions = new NameSet();
  /** The parents of all names. */
  #parents: NameSet | undefined;

  /** @param outcome the counter of hits */
  constructor(plan: LocalNamesPlan, hosts: HostNames, outcome: number) {
    this.#plan = plan;
    this.#hosts = hosts;
    this.#outcome = outcome;
    this.#sets = groupRecords(plan.records);
    // Of two with the same alias the first counts.
    this.#cnames = new Map(plan.cnames.toReversed().map((cname) => [cname.alias, cname]));
    for (const names of [this.#sets.keys(), this.#cnames.keys()])
      for (const name of names) this.#addOfOptions(encodeName(name));
  }

  /** Readers compose no answers for names of options: these have nodes. */
  #addOfOptions(name: WireName): void {
    this.#ofOptions.add(name);
    this.#hosts.setApart(name);
  }

  /** The names of hosts files. */
  get hosts(): HostNames {
    return this.#hosts;
  }

  /** The local answer; undefined if others must answer. ANY returns all local records. */
  answer(name: NameKey, type: number): LocalAnswer | undefined {
    const end = this.#followAliases(name);
    if (type === TYPE.CNAME && end.aliases.length > 0)
      return { records: end.aliases.slice(0, 1), additionals: [] };
    const sets = this.#setsAt(end.name).filter((set) => set.type === type || type === TYPE.ANY);
    const records = [...end.aliases, ...sets.flatMap((set) => toRecords(end.name, set))];
    if (records.length === 0) return undefined;
    const along = sets.flatMap(({ additional }) => (additional === 'elsewhere' ? [] : additional));
    return { records, additionals: along.flatMap((named) => toRecords(named.name, named.set)) };
  }

  /** Whether a name or one below it is known: then it must not be NXDOMAIN (RFC 8020). */
  exists(name: NameKey): boolean {
    const wire = encodeName(name);
    if (this.#isKnown(wire)) return true;
    // Whoever asks before they are listed waits for it.
    for (const steps = this.listParents(); this.#parents === undefined; ) steps.next();
    return this.#parents.find(wire) !== 0;
  }

  /** Lists the parents of all names, for `exists`. The caller may pause at each yield. */
  *listParents(): Generator<void, void> {
    if (this.#parents !== undefined) return;
    const parents = new NameSet();
    let count = 0;
    for (const name of this.#hosts.names()) {
      if (++count % STRETCH === 0) {
        yield;
        // `exists` may have listed them meanwhile.
        if (this.#parents !== undefined) return;
      }
      addParents(parents, name);
    }
    for (const entry of this.#ofOptions.entries()) addParents(parents, this.#ofOptions.name(entry));
    this.#parents = parents;
  }

  /** Whether the addresses in an answer depend on the client. */
  isLocalised(name: NameKey): boolean {
    if (!this.#plan.localisesQueries) return false;
    return this.#hosts.countIpv4(encodeName(this.#followAliases(name).name)) > 1;
  }

  /** The hosts file that a local record is from; undefined for a record of an option. */
  findHostsFile({ name, data }: ResourceRecord): string | undefined {
    const wire = encodeName(toKey(name));
    if (data.kind === 'PTR') return this.#hosts.pointer(wire)?.file;
    if (data.kind !== 'A' && data.kind !== 'AAAA') return undefined;
    const addresses = this.#hosts.findAddresses(wire);
    return addresses.find(({ octets }) => formatAddress(octets) === data.address)?.file;
  }

  /** All names with records of their own, without duplicates. Each is valid until the next. */
  *names(): Generator<WireName, void> {
    yield* this.#hosts.names();
    yield* this.#hosts.reverseNames();
    for (const entry of this.#ofOptions.entries()) {
      const name = this.#ofOptions.name(entry);
      if (!this.#hosts.has(name) && this.#hosts.pointer(name) === undefined) yield name;
    }
  }

  /** Whether a name has records of its own: it is known, or the reverse name of an address. */
  has(name: WireName): boolean {
    return this.#isKnown(name) || this.#hosts.pointer(name) !== undefined;
  }

  /** Names that readers compose no answers for. */
  get nodes(): PublishedNames {
    return {
      names: () => this.#namesOfNodes(),
      has: (name) => this.#ofOptions.find(name) !== 0 || this.#hosts.isApart(name),
      // Compare the nodes themselves: these names are few.
      hasSameNode: () => false,
      compile: (name, zone) => compileNode(this.node(keyOfWire(name)), zone),
    };
  }

  *#namesOfNodes(): Generator<WireName, void> {
    for (const entry of this.#ofOptions.entries()) yield this.#ofOptions.name(entry);
    for (const name of this.#hosts.namesApart()) if (this.#ofOptions.find(name) === 0) yield name;
  }

  /** Counts the names of hosts files that `former` has not or knows otherwise, or that only it has. Names with nodes are not counted. */
  *countChanged(former: LocalNames, changed: CountedNames): Generator<void, void> {
    const here = this.#hosts;
    const there = former.#hosts;
    let count = 0;
    for (const name of namesAndReverse(here)) {
      if (++count % STRETCH === 0) yield;
      const isSame = here.hasSameAddresses(name, there) && here.hasSamePointer(name, there);
      if (!isSame && !here.isApart(name)) changed.add(name);
    }
    for (const name of namesAndReverse(there)) {
      if (++count % STRETCH === 0) yield;
      const isGone = !here.has(name) && here.pointer(name) === undefined;
      if (isGone && !there.isApart(name)) changed.add(name);
    }
  }

  /** Whether clients of a network get other addresses than all others. @param isNear whether an address is in the network */
  isLocalisedFor(isNear: AddressMatch, name: WireName): boolean {
    if (this.#ofOptions.find(name) === 0 && this.#hosts.countIpv4(name) < 2) return false;
    const key = keyOfWire(name);
    if (!this.isLocalised(key)) return false;
    const addresses = this.#setsAt(this.#followAliases(key).name).find(({ type }) => type === TYPE.A)?.data;
    const near = addresses?.filter(isAddressIn(isNear)).length ?? 0;
    return near > 0 && near < (addresses?.length ?? 0);
  }

  /**
   * The node of a name for the table.
   *
   * @param isNear selects the IPv4 addresses for clients of a network; default: all
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
      below: BELOW,
      outcome: this.#outcome,
      isOpen: true,
    };
  }

  #isKnown(name: WireName): boolean {
    return this.#hosts.has(name) || this.#ofOptions.find(name) !== 0;
  }

  #followAliases(name: NameKey): AliasesEnd {
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

  /** All sets at a name that is not an alias, sets of options before sets of hosts files. */
  #setsAt(name: NameKey): readonly RecordSet[] {
    const wire = encodeName(name);
    const sets = (this.#sets.get(name) ?? []).map((set) => this.#withAddresses(set));
    const hasType = (type: number) => sets.some((set) => set.type === type);
    const hosts = toRecordSets(this.#hosts.findAddresses(wire));
    sets.push(...hosts.filter((set) => !hasType(set.type)));
    const pointer = this.#hosts.pointer(wire);
    if (pointer !== undefined && !hasType(TYPE.PTR))
      sets.push(recordSet(TYPE.PTR, pointer.ttl, [{ kind: 'PTR', target: keyOfWire(pointer.target) }]));
    const exchange = hosts.length === 0 ? undefined : this.#findMailExchange(name);
    if (exchange !== undefined && !hasType(TYPE.MX)) sets.push(this.#mailSet(exchange));
    return sets;
  }

  #findMailExchange(name: NameKey): NameKey | undefined {
    const { mxOfHosts } = this.#plan;
    if (mxOfHosts.kind === 'target') return mxOfHosts.target;
    return mxOfHosts.kind === 'self' ? name : undefined;
  }

  #mailSet(exchange: NameKey): RecordSet {
    return recordSet(TYPE.MX, this.#plan.ttl, [{ kind: 'MX', preference: MX_PREFERENCE, exchange }]);
  }

  /** Adds the known addresses of the targets of MX and SRV records. */
  #withAddresses(set: RecordSet): RecordSet {
    const targets = new Set(set.data.flatMap(listTargets));
    const additional = [...targets].flatMap((name): NamedSet[] =>
      toRecordSets(this.#hosts.findAddresses(encodeName(name))).map((each) => ({ name, set: each })),
    );
    return additional.length === 0 ? set : { ...set, additional };
  }
}

function* namesAndReverse(hosts: HostNames): Generator<WireName, void> {
  yield* hosts.names();
  yield* hosts.reverseNames();
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

function listTargets(data: RecordData): readonly NameKey[] {
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
    // Skip octets of the wrong length for an address of the type.
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

/** Converts addresses given as octets to addresses. */
function readable(data: RecordData): RecordData {
  if (data.kind !== 'unknown') return data;
  const { type, bytes } = data;
  if (type === TYPE.A && bytes.length === 4) return { kind: 'A', address: formatAddress(bytes) };
  if (type === TYPE.AAAA && bytes.length === 16) return { kind: 'AAAA', address: formatAddress(bytes) };
  return data;
}

/** The A and AAAA sets that are not empty. If TTLs differ, the lowest counts (RFC 2181 section 5.2). */
function toRecordSets(addresses: readonly HostAddress[]): readonly RecordSet[] {
  return (['A', 'AAAA'] as const).flatMap((kind) => {
    const ofFamily = addresses.filter(({ octets }) => (octets.length === 4) === (kind === 'A'));
    if (ofFamily.length === 0) return [];
    const data = ofFamily.map(({ octets }): RecordData => ({ kind, address: formatAddress(octets) }));
    const ttl = ofFamily.reduce((min, each) => Math.min(min, each.ttl), Number.POSITIVE_INFINITY);
    return [recordSet(TYPE[kind], ttl, data)];
  });
}

/** Adds all names above a name except the root. */
function addParents(parents: NameSet, name: WireName): void {
  for (let at = 1 + (name[0] ?? 0); at < name.length - 1; at += 1 + (name[at] ?? 0)) {
    const parent = name.subarray(at) as WireName; // Without its first labels.
    if (parents.find(parent) !== 0) return;
    parents.add(parent);
  }
}
