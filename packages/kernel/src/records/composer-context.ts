/**
 * What all composers of one reader share: the question, the zone that it is in, and the answer so far.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { COMPOSED, type Sought } from '../table/composer.ts';
import type { TableViews } from '../table/memory.ts';
import { ClientPlaceFinder } from './client-places.ts';
import type { Composition } from './composition.ts';
import { EndpointPreference } from './endpoint-preference.ts';
import { CLUSTER, CLUSTER_FLAG, EXTERNAL_TARGET, INDEXED, NAME_OUTCOME } from './layout.ts';
import { type RecordFinder, SectionWalk } from './record-finder.ts';
import { type ServiceFields, SVC_OCTETS } from './service-fields.ts';

export class ComposerContext {
  readonly views: TableViews;
  readonly composition: Composition;
  readonly walk: SectionWalk;
  readonly preference: EndpointPreference;
  /** The octet of the block that says where clients are; 0: answers do not depend on that. */
  places = 0;
  /** Has the socket address of the client, from octet `#client` on. */
  #packet: Uint8Array = new Uint8Array();
  #client = 0;
  readonly #places: ClientPlaceFinder;
  readonly #finder: RecordFinder;
  sought: Sought;
  /** Flags of the zone, of `CLUSTER_FLAG`. */
  flags = 0;
  /** Of `NAME_OUTCOME`. */
  outcome: number = NAME_OUTCOME.zone;
  /** The priority of SRV records. */
  priority = 0;
  /** Whether addresses start at a random one. */
  rotates = true;
  /** The label `svc` and the domain: where they lie, and their octets. */
  #suffixAt = 0;
  #suffixLength = 0;
  /** State of a xorshift generator. Never 0. */
  #random = (Math.floor(Math.random() * 0x7fffffff) | 1) >>> 0;

  constructor(views: TableViews, composition: Composition, finder: RecordFinder, sought: Sought) {
    this.views = views;
    this.composition = composition;
    this.#finder = finder;
    this.walk = new SectionWalk(views);
    this.preference = new EndpointPreference(views, this.walk);
    this.#places = new ClientPlaceFinder(views, finder);
    this.sought = sought;
  }

  /**
   * Begins an answer.
   *
   * @param zone the octet of the zone of a cluster
   * @param packet has the socket address of the client from octet `client` on
   */
  use(zone: number, sought: Sought, rotates: boolean, packet: Uint8Array, client: number): void {
    const { atoms } = this.views;
    this.sought = sought;
    this.rotates = rotates;
    this.flags = atoms[(zone + CLUSTER.FLAGS) >> 2] ?? 0;
    this.priority = this.isKubeDns ? PRIORITY_OF_KUBE_DNS : 0;
    this.#suffixAt = zone + CLUSTER.NAMES;
    this.#suffixLength = SVC_OCTETS + ((atoms[(zone + CLUSTER.DOMAIN_SHAPE) >> 2] ?? 0) & 0xffff);
    this.places = atoms[(zone + CLUSTER.PLACES) >> 2] ?? 0;
    this.#packet = packet;
    this.#client = client;
  }

  /** Tells `preference` where the client is. @returns whether that is known */
  locate(): boolean {
    const found = this.#places;
    found.find(this.places, this.#packet, this.#client);
    this.preference.zone = found.zone;
    this.preference.node = found.node;
    return found.zone !== 0 || found.node !== 0;
  }

  get isKubeDns(): boolean {
    return (this.flags & CLUSTER_FLAG.KUBE_DNS) !== 0;
  }

  /** Whether the zone has a flag. */
  has(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }

  /** Whether records of a type are left out. */
  lacks(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }

  /** Whether addresses of a type are left out. */
  lacksAddresses(type: number): boolean {
    return this.lacks(type === TYPE.A ? CLUSTER_FLAG.WITHOUT_A : CLUSTER_FLAG.WITHOUT_AAAA);
  }

  /** A random number below `count`, 0 if the order of addresses stays. */
  pick(count: number): number {
    return !this.rotates || count < 2 ? 0 : this.random() % count;
  }

  /** A random number of 32 bits. */
  random(): number {
    let state = this.#random;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#random = state >>> 0;
    return this.#random;
  }

  /** What the index of a service's endpoints has for a label of the question. @param label where it begins, with its length */
  hashOfLabel(label: number): number {
    const { sought } = this;
    return this.#finder.hashKey(sought, label, 1 + (sought.name[label] ?? 0), INDEXED.LABEL);
  }

  /** Octets of a service's name. */
  nameLength(service: ServiceFields): number {
    return service.keyLength + this.#suffixLength;
  }

  /** Appends the name of a service to the last record. */
  appendName(service: ServiceFields): void {
    const { octets } = this.views;
    this.composition.append(octets, service.keyAt, service.keyLength);
    this.composition.append(octets, this.#suffixAt, this.#suffixLength);
  }

  /** Answers with the alias itself; the chain follows it. */
  composeExternal(service: ServiceFields): number {
    const isAlias = service.target === EXTERNAL_TARGET.NAME && this.sought.type === TYPE.CNAME;
    if (!isAlias || this.lacks(CLUSTER_FLAG.WITHOUT_CNAME)) return COMPOSED.ASK;
    this.composition.addAlias(this.views.octets, service.targetAt, service.targetLength);
    return COMPOSED.RECORDS;
  }

  /** Answers with the addresses of a service's own. @param type A or AAAA */
  addOwnAddresses(service: ServiceFields, type: number): number {
    if (this.lacksAddresses(type)) return COMPOSED.NODATA;
    const { composition } = this;
    const count = type === TYPE.A ? service.ipv4 : service.ipv6;
    const first = this.pick(count);
    for (let turn = 0; turn < count; turn++) {
      const index = (first + turn) % count;
      if (type === TYPE.A) composition.addAddress(this.views.atoms[(service.ipv4At >> 2) + index] ?? 0);
      else composition.addLongAddress(this.views.octets, service.ipv6At + index * 16);
    }
    return count === 0 ? COMPOSED.NODATA : COMPOSED.RECORDS;
  }

  /** Adds a service's own addresses to the additional section. @param owner where its name lies in the message */
  addOwnAdditionals(service: ServiceFields, owner: number): void {
    const { composition, views } = this;
    if (!this.lacks(CLUSTER_FLAG.WITHOUT_A))
      for (let index = 0; index < service.ipv4; index++)
        composition.addAdditional(owner, views.atoms[(service.ipv4At >> 2) + index] ?? 0);
    if (!this.lacks(CLUSTER_FLAG.WITHOUT_AAAA))
      for (let index = 0; index < service.ipv6; index++)
        composition.addLongAdditional(owner, views.octets, service.ipv6At + index * 16);
  }
}

const PRIORITY_OF_KUBE_DNS = 10;

/** Where the name of the question lies in a message. */
export const QUESTION_NAME = HEADER_OCTETS;
