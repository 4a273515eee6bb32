/**
 * The names of services and endpoints as CoreDNS has them: Kubernetes DNS specification, sections 2.3 and 2.4. Ports are
 * answered with and without their underscores.
 */
import { TYPE } from '@portolan/dns/types.ts';
import { COMPOSED } from '../table/composer.ts';
import type { TableViews } from '../table/memory.ts';
import { type ComposerContext, QUESTION_NAME } from './composer-context.ts';
import { type EndpointMatcher, EndpointSearch } from './endpoint-search.ts';
import { type EndpointWriter, MADE_LABEL, type TargetAdder } from './endpoint-writer.ts';
import type { HttpsComposer } from './https-composer.ts';
import { CLUSTER_FLAG, NAME_OUTCOME, PORT, SERVICE_FLAG, SERVICE_KIND } from './layout.ts';
import type { SectionFilter } from './record-finder.ts';
import {
  areEqual,
  countUnderscore,
  dashedAddress,
  isPort,
  NO_ADDRESS,
  nextPort,
  portNumber,
  readPortProtocol,
  readProtocol,
  type ServiceFields,
} from './service-fields.ts';

/** Instead of the place of a port's label: all ports. */
const ALL = -1;
/** A service with more endpoints that share hostnames is left to the chain: repeated records are looked for one by one. */
const MAX_SHARED = 64;

const ZONE_LABEL = Buffer.from('\x05_zone', 'latin1');

const computeWeight = (pairs: number): number => Math.max(1, Math.floor(100 / pairs));

export class CoreDnsComposer implements SectionFilter, EndpointMatcher, TargetAdder {
  readonly #views: TableViews;
  readonly #context: ComposerContext;
  readonly #https: HttpsComposer;
  readonly #endpoints: EndpointWriter;
  readonly #search: EndpointSearch;
  /** Where the label of the sought port or endpoint begins in the name of the question, or `ALL`. */
  #label = ALL;
  #protocol = 0;
  /** The address that the label of an endpoint is made of, or `NO_ADDRESS`. */
  #dashed = NO_ADDRESS;
  /** Of the SRV records, and whether endpoints share hostnames. */
  #weight = 0;
  #isShared = false;

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
    this.#label = ALL;
    if (service.hasTargets && (isHeadless || below > 0)) return COMPOSED.ASK;
    // The chain knows names of endpoints that have the label of a cluster.
    const hasTargets = below > 0 || (isHeadless && sought.type === TYPE.SRV);
    if (hasTargets && this.#context.has(CLUSTER_FLAG.CLUSTER_LABELS)) return COMPOSED.ASK;
    if (below > 2) return isHeadless && this.#mayBeZonal(below) ? COMPOSED.ASK : COMPOSED.NXDOMAIN;
    if (below === 0 && sought.type === TYPE.HTTPS) return this.#https.composeOwn(service);
    const first = sought.labelStarts[0] ?? 0;
    if (below > 0 && countUnderscore(sought.name, first) === 1) {
      const said = this.#https.composeBelow(service, below);
      if (said !== COMPOSED.NEXT) return said;
    }
    if (below === 1) {
      if (countUnderscore(sought.name, first) === 0) return this.#composeEndpoint(service, first);
      const protocol = readProtocol(sought.name, first, false);
      return protocol >= 0 && this.#hasPorts(service, protocol) ? COMPOSED.NODATA : COMPOSED.NXDOMAIN;
    }
    if (below === 2) {
      this.#label = first;
      this.#protocol = readProtocol(sought.name, sought.labelStarts[1] ?? 0, true);
      if (this.#protocol < 0) return COMPOSED.NXDOMAIN;
    }
    return isHeadless ? this.#composeHeadless(service) : this.#composeCluster(service);
  }

  /** Whether a name may select endpoints by zone. The chain knows their zones. @param below labels left of the service */
  #mayBeZonal(below: number): boolean {
    const { sought } = this.#context;
    const at = sought.labelStarts[below - 1] ?? 0;
    return (
      this.#context.has(CLUSTER_FLAG.SELECTS_BY_ZONE) &&
      areEqual(sought.name, at, ZONE_LABEL, 0, ZONE_LABEL.length)
    );
  }

  /** Whether the endpoints of a section have one of the ports that are asked for. */
  includes(section: number): boolean {
    if (this.#label === ALL) return true;
    return this.#countWanted(this.#endpoints.ports(section), this.#endpoints.portsAt(section)) > 0;
  }

  /** @param at the octet of a port */
  #isWanted(at: number): boolean {
    if (this.#label === ALL) return true;
    return isPort(this.#views.octets, at, this.#protocol, this.#context.sought.name, this.#label);
  }

  #countWanted(ports: number, first: number): number {
    if (this.#label === ALL) return ports;
    const { octets } = this.#views;
    let wanted = 0;
    for (let index = 0, at = first; index < ports; index++, at = nextPort(octets, at))
      if (this.#isWanted(at)) wanted++;
    return wanted;
  }

  /** Whether an earlier one of the wanted ports has the same number: both make the same record. */
  #isRepeated(first: number, index: number, number: number): boolean {
    const { octets } = this.#views;
    for (let earlier = 0, at = first; earlier < index; earlier++, at = nextPort(octets, at))
      if (portNumber(octets, at) === number && this.#isWanted(at)) return true;
    return false;
  }

  #composeCluster(service: ServiceFields): number {
    const context = this.#context;
    const { composition, sought } = context;
    const wanted = this.#countWanted(service.ports, service.portsAt);
    if (wanted === 0 && this.#label !== ALL) return COMPOSED.NXDOMAIN;
    if (sought.type === TYPE.A || sought.type === TYPE.AAAA)
      return context.addOwnAddresses(service, sought.type);
    if (sought.type !== TYPE.SRV || wanted === 0 || context.lacks(CLUSTER_FLAG.WITHOUT_SRV))
      return COMPOSED.NODATA;
    const weight = computeWeight(wanted * (service.ipv4 + service.ipv6));
    const { octets } = this.#views;
    for (let index = 0, at = service.portsAt; index < service.ports; index++, at = nextPort(octets, at)) {
      const number = portNumber(octets, at);
      if (!this.#isWanted(at) || this.#isRepeated(service.portsAt, index, number)) continue;
      if (!composition.addService(0, weight, number, context.nameLength(service))) break;
      context.appendName(service);
    }
    context.addOwnAdditionals(service, this.#label === ALL ? QUESTION_NAME : composition.targetAt);
    return COMPOSED.RECORDS;
  }

  /** Whether a port with a name has this protocol. */
  #hasPorts(service: ServiceFields, protocol: number): boolean {
    if (service.kind === SERVICE_KIND.CLUSTER)
      return this.#hasNamed(service.ports, service.portsAt, protocol);
    const { walk } = this.#context;
    const endpoints = this.#endpoints;
    for (walk.begin(service.entry); walk.next(); ) {
      const { section } = walk;
      if (endpoints.ready(section) === 0) continue;
      if (this.#hasNamed(endpoints.ports(section), endpoints.portsAt(section), protocol)) return true;
    }
    return false;
  }

  #hasNamed(ports: number, first: number, protocol: number): boolean {
    const { octets } = this.#views;
    for (let index = 0, at = first; index < ports; index++, at = nextPort(octets, at))
      if (readPortProtocol(octets, at) === protocol && octets[at + PORT.LENGTH] !== 0) return true;
    return false;
  }

  #composeHeadless(service: ServiceFields): number {
    const endpoints = this.#endpoints;
    const { type } = this.#context.sought;
    endpoints.begin(service, this);
    const needsPairs = this.#label !== ALL || type === TYPE.SRV;
    const preferred = needsPairs ? this.#countPairs(service) : 0;
    const pairs =
      needsPairs && preferred === 0 && endpoints.takeAll() ? this.#countPairs(service) : preferred;
    if (pairs === 0 && this.#label !== ALL) return COMPOSED.NXDOMAIN;
    const isOverlapping = (service.flags & SERVICE_FLAG.OVERLAPS) !== 0;
    if (type === TYPE.A || type === TYPE.AAAA)
      return isOverlapping ? COMPOSED.ASK : endpoints.addAddresses(service, type, this);
    if (type !== TYPE.SRV || pairs === 0 || this.#context.lacks(CLUSTER_FLAG.WITHOUT_SRV))
      return COMPOSED.NODATA;
    const isShared = (service.flags & SERVICE_FLAG.SHARES) !== 0;
    if (isOverlapping || (isShared && service.ready > MAX_SHARED)) return COMPOSED.ASK;
    this.#weight = computeWeight(pairs);
    this.#isShared = isShared;
    return endpoints.addTargets(service, this, this, isShared) ? COMPOSED.RECORDS : COMPOSED.ASK;
  }

  /** Pairs of endpoints and ports that are asked for. */
  #countPairs(service: ServiceFields): number {
    const endpoints = this.#endpoints;
    const { walk } = this.#context;
    let pairs = 0;
    for (walk.begin(service.entry); walk.next(); ) {
      const { section } = walk;
      pairs +=
        this.#countWanted(endpoints.ports(section), endpoints.portsAt(section)) * endpoints.count(section);
    }
    return pairs;
  }

  /** Adds the SRV records of one endpoint. @returns false if its name cannot be one */
  addTargets(service: ServiceFields, section: number, endpoint: number): boolean {
    const endpoints = this.#endpoints;
    const { octets } = this.#views;
    const ports = endpoints.ports(section);
    const first = endpoints.portsAt(section);
    for (let index = 0, at = first; index < ports; index++, at = nextPort(octets, at)) {
      const number = portNumber(octets, at);
      if (!this.#isWanted(at) || this.#isRepeated(first, index, number)) continue;
      if (!endpoints.addService(service, section, endpoint, this.#weight, number, this.#isShared))
        return false;
    }
    return true;
  }

  /** Answers for a name of endpoints, which may share it. @param label where it begins, with its length */
  #composeEndpoint(service: ServiceFields, label: number): number {
    if ((service.flags & SERVICE_FLAG.OVERLAPS) !== 0) return COMPOSED.ASK;
    const context = this.#context;
    const endpoints = this.#endpoints;
    const search = this.#search;
    const { sought, composition } = context;
    const { type } = sought;
    this.#label = label;
    this.#dashed = dashedAddress(sought.name, label);
    const hash = context.hashOfLabel(label);
    let pairs = 0;
    let found = false;
    for (search.begin(service.entry, hash); search.next(); ) {
      const { section } = search;
      found = true;
      pairs += endpoints.ports(section);
      const isAddress = type === (endpoints.isIpv4(section) ? TYPE.A : TYPE.AAAA);
      if (isAddress && !context.lacksAddresses(type)) endpoints.addAddress(section, search.endpoint);
    }
    if (!found) return COMPOSED.NXDOMAIN;
    context.outcome = NAME_OUTCOME.endpoint;
    if (type !== TYPE.SRV || pairs === 0 || context.lacks(CLUSTER_FLAG.WITHOUT_SRV))
      return composition.answers > 0 || composition.isCut ? COMPOSED.RECORDS : COMPOSED.NODATA;
    this.#addPortsOfEndpoint(service, hash, computeWeight(pairs));
    return COMPOSED.RECORDS;
  }

  /** Whether an endpoint has the label that is asked for. */
  matches(section: number, endpoint: number): boolean {
    const endpoints = this.#endpoints;
    const word = endpoints.labelWord(section, endpoint);
    if (word === 0)
      return this.#dashed !== NO_ADDRESS && endpoints.ipv4(section, endpoint) === (this.#dashed | 0);
    const { octets } = this.#views;
    const label = this.#label;
    const at = section + (word & ~MADE_LABEL);
    const { name } = this.#context.sought;
    return octets[at] === name[label] && areEqual(octets, at, name, label, (name[label] ?? 0) + 1);
  }

  /** The SRV records at the name of endpoints, which is also their target. */
  #addPortsOfEndpoint(service: ServiceFields, hash: number, weight: number): void {
    const endpoints = this.#endpoints;
    const search = this.#search;
    const { sought, composition } = this.#context;
    const { octets } = this.#views;
    for (search.begin(service.entry, hash); search.next(); ) {
      const { section } = search;
      let at = endpoints.portsAt(section);
      for (let index = 0; index < endpoints.ports(section); index++, at = nextPort(octets, at)) {
        if (!composition.addService(0, weight, portNumber(octets, at), sought.nameLength)) return;
        composition.append(sought.name, 0, sought.nameLength);
        composition.dropIfRepeated();
      }
    }
    for (search.begin(service.entry, hash); search.next(); )
      endpoints.addAdditional(search.section, search.endpoint, QUESTION_NAME);
  }
}
