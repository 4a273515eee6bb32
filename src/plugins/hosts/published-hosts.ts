/**
 * The names of a hosts file as nodes of the answer table. Readers answer their addresses, and leave to the chain the questions
 * that a node cannot answer.
 */
import { isWithinAny } from '../../chain/match.ts';
import type { PublishedNames } from '../../sources/local/local-publication.ts';
import { LOCAL_OUTCOME } from '../../sources/local/outcome.ts';
import type { Below, NameNode, ZoneId } from '../../table/types.ts';
import { encodeName } from '../../wire/name.ts';
import { keyOfWire } from '../../wire/name-wire.ts';
import { type NameKey, type RecordData, TYPE, type WireName } from '../../wire/types.ts';
import { compileNode } from '../../zone/compile.ts';
import { COMPLETE, type ZoneNode } from '../../zone/node.ts';
import { type RecordSet, recordSet } from '../../zone/record-set.ts';
import type { HostsNames } from './hosts-names.ts';
import type { HostsOptions } from './options.ts';

/** The chain answers names at any depth below the node; and only names right below it. */
const ASK_ALL: Below = { kind: 'ask', labels: 0 };
const ASK_CHILDREN: Below = { kind: 'ask', labels: 1 };

export class PublishedHosts implements PublishedNames {
  readonly #hosts: HostsNames;
  readonly #options: HostsOptions;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #fallthrough: ReadonlySet<NameKey>;
  readonly #wildcardParents: ReadonlySet<NameKey>;
  readonly #names: ReadonlySet<NameKey>;

  constructor(hosts: HostsNames, options: HostsOptions) {
    this.#hosts = hosts;
    this.#options = options;
    this.#zones = new Set(options.zones);
    this.#fallthrough = new Set(options.fallthrough);
    this.#wildcardParents = new Set(hosts.wildcardParents());
    // Zones in which missing names are refused have their own node, which leaves these names to the chain.
    const refusing = options.zones.filter((zone) => !isWithinAny(zone, this.#fallthrough));
    this.#names = new Set([...hosts.names(), ...this.#wildcardParents, ...refusing]);
  }

  *names(): Generator<WireName, void> {
    for (const name of this.#names) yield encodeName(name);
  }

  has(name: WireName): boolean {
    return this.#names.has(keyOfWire(name));
  }

  hasSameNode(name: WireName, other: PublishedHosts): boolean {
    const key = keyOfWire(name);
    return this.#digest(key) === other.#digest(key);
  }

  compile(name: WireName, zone: ZoneId): NameNode {
    return compileNode(this.#node(keyOfWire(name)), zone);
  }

  #digest(name: NameKey): string {
    const lists = [
      this.#hosts.addressesOf(name, 'ipv4'),
      this.#hosts.addressesOf(name, 'ipv6'),
      this.#hosts.namesOf(name),
    ];
    return `${lists.map((list) => list.join()).join(' ')} ${this.#wildcardParents.has(name)}`;
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
    const { ttl } = this.#options;
    const ipv4 = this.#hosts.addressesOf(name, 'ipv4').map((address): RecordData => ({ kind: 'A', address }));
    const ipv6 = this.#hosts
      .addressesOf(name, 'ipv6')
      .map((address): RecordData => ({ kind: 'AAAA', address }));
    return [recordSet(TYPE.A, ttl, ipv4), recordSet(TYPE.AAAA, ttl, ipv6)];
  }

  #pointerSets(name: NameKey): readonly RecordSet[] {
    const targets = this.#hosts.namesOf(name);
    if (targets.length === 0) return [];
    return [
      recordSet(
        TYPE.PTR,
        this.#options.ttl,
        targets.map((target): RecordData => ({ kind: 'PTR', target })),
      ),
    ];
  }

  #below(name: NameKey): Below {
    if (isWithinAny(name, this.#zones) && !isWithinAny(name, this.#fallthrough)) return ASK_ALL;
    return this.#wildcardParents.has(name) ? ASK_CHILDREN : COMPLETE;
  }
}
