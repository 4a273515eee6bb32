/**
 * The names of services and endpoints as kube-dns has them: a tree in which each address and each endpoint of a service has
 * a key of its own, a hostname or a hash.
 *
 * Aliases, wildcards and the keys of ports are left to the handler chain.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { COMPOSED } from '../table/composer.ts';
import type { TableViews } from '../table/memory.ts';
import { type ComposerContext, QUESTION_NAME } from './composer-context.ts';
import { type EndpointMatcher, EndpointSearch } from './endpoint-search.ts';
import { type EndpointWriter, MADE_LABEL, type TargetAdder } from './endpoint-writer.ts';
import { HASH_LABEL_OCTETS, writeHashLabel } from './hash-label.ts';
import type { HttpsComposer } from './https-composer.ts';
import { CLUSTER_FLAG, NAME_OUTCOME, PORT, SERVICE_FLAG, SERVICE_KIND } from './layout.ts';
import type { SectionFilter } from './record-finder.ts';
import {
  areEqual,
  countUnderscore,
  isNameLength,
  isPort,
  nextPort,
  portNumber,
  readPortProtocol,
  readProtocol,
  type ServiceFields,
} from './service-fields.ts';

/** Instead of the place of a port's label: all ports. */
const ALL = -1;
/** A service with more endpoints is left to the chain where their hashes are needed, if the table has no room for its index. */
const MAX_HASHED = 256;

const computeWeight = (entries: number): number => Math.floor(100 / entries);

export class KubeDnsComposer implements SectionFilter, EndpointMatcher, TargetAdder {
  readonly #views: TableViews;
  readonly #context: ComposerContext;
  readonly #https: HttpsComposer;
  readonly #endpoints: EndpointWriter;
  readonly #hash = new Uint8Array(HASH_LABEL_OCTETS);
  /** Where the keys of a service's addresses lie in the message. */
  readonly #places = new Int32Array(256);
  readonly #search: EndpointSearch;
  /** Where the label of the sought port or endpoint begins in the name of the question, or `ALL`. */
  #label = ALL;
  /** Of the sought port. */
  #protocol = 0;
  /** Of the SRV records of endpoints. */
  #weight = 0;

  constructor(context: ComposerContext, endpoints: EndpointWriter, https: HttpsComposer) {
    this.#https = https;
    this.#views = context.views;
    this.#context = context;
    this.#endpoints = endpoints;
    this.#search = new EndpointSearch(context.views, context.walk, this);
  }

  /**
   * Answers for a name at or below a service that has names.
   *
   * @param below labels left of the service
   */
  compose(service: ServiceFields, below: number): number {
    const { sought } = this.#context;
    const isHeadless = service.kind === SERVICE_KIND.HEADLESS;
    this.#context.outcome = isHeadless ? NAME_OUTCOME.headless : NAME_OUTCOME.clusterIP;
    if (service.kind === SERVICE_KIND.EXTERNAL) {
      this.#context.outcome = NAME_OUTCOME.externalName;
      return below === 0 ? this.#context.composeExternal(service) : COMPOSED.NXDOMAIN;
    }
    if ((service.flags & SERVICE_FLAG.OVERLAPS) !== 0) return COMPOSED.ASK;
    if (isHeadless && service.hasTargets) return COMPOSED.ASK;
    this.#label = ALL;
    if (below === 0 && sought.type === TYPE.HTTPS) return this.#https.composeOwn(service);
    if (below === 0) return isHeadless ? this.#beginHeadless(service) : this.#composePortal(service);
    const first = sought.labelStarts[0] ?? 0;
    if (countUnderscore(sought.name, first) === 1) {
      const said = this.#https.composeBelow(service, below);
      if (said !== COMPOSED.NEXT) return said;
    }
    if (below === 1) return this.#composeBelow(service, isHeadless, first);
    if (below > 3) return COMPOSED.NXDOMAIN;
    // The labels of the port are the last two.
    this.#label = sought.labelStarts[below - 2] ?? 0;
    this.#protocol = readProtocol(sought.name, sought.labelStarts[below - 1] ?? 0, false);
    if (this.#protocol < 0 || countUnderscore(sought.name, this.#label) === 0) return COMPOSED.NXDOMAIN;
    if (!this.#hasWanted(service, isHeadless)) return COMPOSED.NXDOMAIN;
    if (below === 3) return COMPOSED.ASK;
    return isHeadless ? this.#beginHeadless(service) : this.#composePortOfPortal(service);
  }

  /** Whether the endpoints of a section have one of the ports that are asked for. */
  includes(section: number): boolean {
    if (this.#label === ALL) return true;
    return this.#hasPort(this.#endpoints.ports(section), this.#endpoints.portsAt(section));
  }

  /** @param at the octet of a port */
  #isWanted(at: number): boolean {
    return isPort(this.#views.octets, at, this.#protocol, this.#context.sought.name, this.#label);
  }

  #hasPort(ports: number, first: number): boolean {
    const { octets } = this.#views;
    for (let index = 0, at = first; index < ports; index++, at = nextPort(octets, at))
      if (this.#isWanted(at)) return true;
    return false;
  }

  #hasWanted(service: ServiceFields, isHeadless: boolean): boolean {
    if (!isHeadless) return this.#hasPort(service.ports, service.portsAt);
    const { walk } = this.#context;
    for (walk.begin(service.entry); walk.next(); )
      if (this.#endpoints.ready(walk.section) > 0 && this.includes(walk.section)) return true;
    return false;
  }

  #hasNamed(ports: number, first: number, protocol: number): boolean {
    const { octets } = this.#views;
    for (let index = 0, at = first; index < ports; index++, at = nextPort(octets, at))
      if (readPortProtocol(octets, at) === protocol && octets[at + PORT.LENGTH] !== 0) return true;
    return false;
  }

  /** Answers for a name one label below the service. @param label where it begins, with its length */
  #composeBelow(service: ServiceFields, isHeadless: boolean, label: number): number {
    const { sought } = this.#context;
    if (countUnderscore(sought.name, label) === 1) {
      const protocol = readProtocol(sought.name, label, false);
      return protocol >= 0 && this.#hasProtocol(service, isHeadless, protocol)
        ? COMPOSED.NODATA
        : COMPOSED.NXDOMAIN;
    }
    return isHeadless ? this.#composeEndpoint(service, label) : this.#composeKey(service, label);
  }

  #hasProtocol(service: ServiceFields, isHeadless: boolean, protocol: number): boolean {
    if (!isHeadless) return this.#hasNamed(service.ports, service.portsAt, protocol);
    const { walk } = this.#context;
    const endpoints = this.#endpoints;
    for (walk.begin(service.entry); walk.next(); ) {
      const { section } = walk;
      if (endpoints.ready(section) === 0) continue;
      if (this.#hasNamed(endpoints.ports(section), endpoints.portsAt(section), protocol)) return true;
    }
    return false;
  }

  /** A service with addresses of its own: SRV records lead to the keys of its addresses. */
  #composePortal(service: ServiceFields): number {
    const context = this.#context;
    const { composition, sought } = context;
    if (sought.type === TYPE.A || sought.type === TYPE.AAAA)
      return context.addOwnAddresses(service, sought.type);
    if (sought.type !== TYPE.SRV || context.lacks(CLUSTER_FLAG.WITHOUT_SRV)) return COMPOSED.NODATA;
    const nameLength = context.nameLength(service);
    // The chain makes the hashes of IPv6 addresses.
    if (service.ipv6 > 0 || !isNameLength(nameLength + HASH_LABEL_OCTETS)) return COMPOSED.ASK;
    const weight = computeWeight(service.ipv4);
    for (let index = 0; index < service.ipv4; index++) {
      const label = writeHashLabel(this.#hash, this.#readAddress(service, index));
      if (!composition.addService(context.priority, weight, 0, label + nameLength)) break;
      this.#places[index] = composition.targetAt;
      composition.append(this.#hash, 0, label);
      context.appendName(service);
    }
    for (let index = 0; index < service.ipv4 && !context.lacksAddresses(TYPE.A); index++)
      composition.addAdditional(this.#places[index] ?? 0, this.#readAddress(service, index));
    return COMPOSED.RECORDS;
  }

  #readAddress(service: ServiceFields, index: number): number {
    return this.#views.atoms[(service.ipv4At >> 2) + index] ?? 0;
  }

  /** A port of a service with addresses of its own is an alias of the service, which the chain follows. */
  #composePortOfPortal(service: ServiceFields): number {
    const context = this.#context;
    const { composition, sought } = context;
    if (sought.type !== TYPE.SRV) return COMPOSED.ASK;
    if (context.lacks(CLUSTER_FLAG.WITHOUT_SRV)) return COMPOSED.NODATA;
    const weight = computeWeight(service.ipv4 + service.ipv6);
    const { octets } = this.#views;
    for (let index = 0, at = service.portsAt; index < service.ports; index++, at = nextPort(octets, at)) {
      if (!this.#isWanted(at)) continue;
      if (
        !composition.addService(context.priority, weight, portNumber(octets, at), context.nameLength(service))
      )
        break;
      context.appendName(service);
      composition.dropIfRepeated();
    }
    context.addOwnAdditionals(service, composition.targetAt);
    return COMPOSED.RECORDS;
  }

  /** The name of one of the service's own addresses. */
  #composeKey(service: ServiceFields, label: number): number {
    const { name } = this.#context.sought;
    for (let index = 0; index < service.ipv4; index++) {
      const address = this.#readAddress(service, index);
      const length = writeHashLabel(this.#hash, address);
      if (length === (name[label] ?? 0) + 1 && areEqual(this.#hash, 0, name, label, length))
        return this.#composeAddress(address);
    }
    return service.ipv6 > 0 ? COMPOSED.ASK : COMPOSED.NXDOMAIN;
  }

  #composeAddress(address: number): number {
    const { composition, sought } = this.#context;
    this.#context.outcome = NAME_OUTCOME.endpoint;
    const hasAddress = !this.#context.lacksAddresses(TYPE.A);
    if (sought.type === TYPE.A && hasAddress) composition.addAddress(address);
    if (sought.type === TYPE.SRV && this.#addOwnService() && hasAddress)
      composition.addAdditional(QUESTION_NAME, address);
    return composition.answers > 0 || composition.isCut ? COMPOSED.RECORDS : COMPOSED.NODATA;
  }

  /** Adds the SRV record of a name that leads to itself. @returns whether it was added */
  #addOwnService(): boolean {
    const { composition, sought, priority } = this.#context;
    if (this.#context.lacks(CLUSTER_FLAG.WITHOUT_SRV)) return false;
    if (!composition.addService(priority, 100, 0, sought.nameLength)) return false;
    composition.append(sought.name, 0, sought.nameLength);
    return true;
  }

  #beginHeadless(service: ServiceFields): number {
    this.#endpoints.begin(service, this);
    return this.#composeHeadless(service);
  }

  #composeHeadless(service: ServiceFields): number {
    const endpoints = this.#endpoints;
    const { walk, sought } = this.#context;
    let count = 0;
    let needsHashes = false;
    for (walk.begin(service.entry); walk.next(); ) {
      if (!this.includes(walk.section)) continue;
      count += endpoints.count(walk.section);
      needsHashes ||= endpoints.hasMadeLabels(walk.section);
    }
    if (count === 0 && endpoints.takeAll()) return this.#composeHeadless(service);
    const { type } = sought;
    const isShared = (service.flags & SERVICE_FLAG.SHARES) !== 0;
    // A single target makes an alias.
    if (this.#label !== ALL && (count === 1 || isShared) && type !== TYPE.SRV) return COMPOSED.ASK;
    if (type === TYPE.A || type === TYPE.AAAA) return endpoints.addAddresses(service, type, this);
    if (type !== TYPE.SRV || this.#context.lacks(CLUSTER_FLAG.WITHOUT_SRV)) return COMPOSED.NODATA;
    if (needsHashes || isShared) return COMPOSED.ASK;
    this.#weight = computeWeight(count);
    return endpoints.addTargets(service, this, this, false) ? COMPOSED.RECORDS : COMPOSED.ASK;
  }

  /** Adds the SRV records of one endpoint. @returns false if its name cannot be one */
  addTargets(service: ServiceFields, section: number, endpoint: number): boolean {
    const endpoints = this.#endpoints;
    const weight = this.#weight;
    if (this.#label === ALL) return endpoints.addService(service, section, endpoint, weight, 0, false);
    const { octets } = this.#views;
    const first = endpoints.portsAt(section);
    const ports = endpoints.ports(section);
    for (let index = 0, at = first; index < ports; index++, at = nextPort(octets, at)) {
      const number = portNumber(octets, at);
      if (!this.#isWanted(at) || this.#isRepeated(first, index, number)) continue;
      if (!endpoints.addService(service, section, endpoint, weight, number, false)) return false;
    }
    return true;
  }

  /** Whether an earlier one of the wanted ports has the same number: both make the same record. */
  #isRepeated(first: number, index: number, number: number): boolean {
    const { octets } = this.#views;
    for (let earlier = 0, at = first; earlier < index; earlier++, at = nextPort(octets, at))
      if (portNumber(octets, at) === number && this.#isWanted(at)) return true;
    return false;
  }

  /** The name of endpoints: their hostname, or the hash of an address. */
  #composeEndpoint(service: ServiceFields, label: number): number {
    const endpoints = this.#endpoints;
    const context = this.#context;
    const { walk, sought, composition } = context;
    const search = this.#search;
    const hash = context.hashOfLabel(label);
    search.begin(service.entry, hash);
    if (!walk.isIndexed && service.ready > MAX_HASHED) return COMPOSED.ASK;
    // The chain makes the hashes of IPv6 addresses.
    if (walk.isIndexed ? walk.hasMadeLabels : this.#hasMadeLabels(service)) return COMPOSED.ASK;
    this.#label = label;
    let isFound = false;
    for (search.begin(service.entry, hash); search.next(); ) {
      const { section, endpoint } = search;
      const type = endpoints.isIpv4(section) ? TYPE.A : TYPE.AAAA;
      if (sought.type === type && !context.lacksAddresses(type)) endpoints.addAddress(section, endpoint);
      if (sought.type === TYPE.SRV && (isFound || this.#addOwnService()))
        endpoints.addAdditional(section, endpoint, QUESTION_NAME);
      isFound = true;
    }
    if (!isFound) return COMPOSED.NXDOMAIN;
    context.outcome = NAME_OUTCOME.endpoint;
    return composition.answers > 0 || composition.isCut ? COMPOSED.RECORDS : COMPOSED.NODATA;
  }

  #hasMadeLabels(service: ServiceFields): boolean {
    const { walk } = this.#context;
    for (walk.begin(service.entry); walk.next(); )
      if (this.#endpoints.hasMadeLabels(walk.section)) return true;
    return false;
  }

  /** Whether an endpoint has the label that is asked for. */
  matches(section: number, endpoint: number): boolean {
    const endpoints = this.#endpoints;
    const label = this.#label;
    const { name } = this.#context.sought;
    const word = endpoints.labelWord(section, endpoint);
    const { octets } = this.#views;
    const length = (name[label] ?? 0) + 1;
    if (word === 0)
      return (
        writeHashLabel(this.#hash, endpoints.ipv4(section, endpoint)) === length &&
        areEqual(this.#hash, 0, name, label, length)
      );
    const at = section + (word & ~MADE_LABEL);
    return octets[at] === name[label] && areEqual(octets, at, name, label, length);
  }
}
