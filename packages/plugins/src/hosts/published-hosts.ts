/**
 * Names of a hosts file that need nodes of the answer table: readers compose the answers of all others. Nodes leave to the chain what
 * they cannot answer.
 */
import { encodeName } from '@portolan/dns/name.ts';
import { isWildcardName, keyOfWire } from '@portolan/dns/name-wire.ts';
import { type NameKey, TYPE, type WireName } from '@portolan/dns/types.ts';
import { isWithinAny } from '@portolan/kernel/chain/match.ts';
import type { Below, NameNode, ZoneId } from '@portolan/kernel/table/types.ts';
import { compileNode } from '@portolan/kernel/zone/compile.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { type RecordSet, recordSet } from '@portolan/kernel/zone/record-set.ts';
import type { PublishedNames } from '@portolan/sources/local/local-publication.ts';
import { LOCAL_OUTCOME } from '@portolan/sources/local/outcome.ts';
import type { HostLines } from './host-lines.ts';
import type { HostsOptions } from './options.ts';

/** The chain answers names at any depth below the node; and only names right below it. */
const ASK_ALL: Below = { kind: 'ask', labels: 0 };
const ASK_CHILDREN: Below = { kind: 'ask', labels: 1 };

export class PublishedHosts implements PublishedNames {
  readonly #hosts: HostLines;
  readonly #options: HostsOptions;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #fallthrough: ReadonlySet<NameKey>;
  /** Zones in which missing names are refused: their nodes leave these names to the chain. */
  readonly #refusing: ReadonlySet<NameKey>;

  constructor(hosts: HostLines, options: HostsOptions) {
    this.#hosts = hosts;
    this.#options = options;
    this.#zones = new Set(options.zones);
    this.#fallthrough = new Set(options.fallthrough);
    this.#refusing = new Set(options.zones.filter((zone) => !isWithinAny(zone, this.#fallthrough)));
  }

  *names(): Generator<WireName, void> {
    for (const name of this.#ofItsOwn()) yield encodeName(name);
    // Readers leave the wildcard itself to the chain.
    for (const name of this.#hosts.names.namesApart())
      if (!isWildcardName(name) && !this.#isOfItsOwn(keyOfWire(name))) yield name;
  }

  has(name: WireName): boolean {
    if (this.#isOfItsOwn(keyOfWire(name))) return true;
    return !isWildcardName(name) && this.#hosts.names.isApart(name);
  }

  /** Compare the nodes themselves: these names are few. */
  hasSameNode(): boolean {
    return false;
  }

  compile(name: WireName, zone: ZoneId): NameNode {
    return compileNode(this.#node(keyOfWire(name)), zone);
  }

  #ofItsOwn(): ReadonlySet<NameKey> {
    return new Set([...this.#hosts.wildcardParents, ...this.#refusing]);
  }

  #isOfItsOwn(name: NameKey): boolean {
    return this.#hosts.wildcardParents.has(name) || this.#refusing.has(name);
  }

  #node(name: NameKey): ZoneNode {
    return {
      name,
      sets: [...this.#addressSets(name), ...this.#pointerSets(name)],
      alias: undefined,
      below: this.#below(name),
      outcome: LOCAL_OUTCOME,
      isOpen: true,
    };
  }

  /** A set without records means NODATA. */
  #addressSets(name: NameKey): readonly RecordSet[] {
    if (!this.#hosts.isKnown(name)) return [];
    return [TYPE.A, TYPE.AAAA].map((type) => this.#set(name, type));
  }

  #pointerSets(name: NameKey): readonly RecordSet[] {
    const pointers = this.#set(name, TYPE.PTR);
    return pointers.data.length === 0 ? [] : [pointers];
  }

  #set(name: NameKey, type: number): RecordSet {
    return recordSet(type, this.#options.ttl, this.#hosts.findData(name, type));
  }

  #below(name: NameKey): Below {
    if (isWithinAny(name, this.#zones) && !isWithinAny(name, this.#fallthrough)) return ASK_ALL;
    return this.#hosts.wildcardParents.has(name) ? ASK_CHILDREN : COMPLETE;
  }
}
