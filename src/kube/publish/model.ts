/**
 * The cluster that names are derived from: objects, indexes, and the dialect that interprets them.
 */
import { completeSteps, type Steps } from '../../base/steps.ts';
import type { NameKey } from '../../wire/types.ts';
import type { ZoneNode } from '../../zone/node.ts';
import type { Zone } from '../../zone/zone.ts';
import type {
  ClusterDirectory,
  DerivedService,
  Dialect,
  ServiceView,
  ZoneView,
} from '../dialects/dialect.ts';
import { EndpointIndex } from '../names/endpoint-index.ts';
import { canonicalAddresses, type Endpoint, endpointsOf, mergeEndpoints } from '../names/endpoints.ts';
import { isLabel, nameBelow } from '../names/labels.ts';
import { PodIndex, type PodMode } from '../names/pods.ts';
import { ReverseIndex } from '../names/reverse-index.ts';
import type { ObjectLine } from '../objects/object-line.ts';
import type { EndpointsObject, ServiceObject } from '../objects/objects.ts';
import { RecentObjects } from '../objects/recent-objects.ts';
import { type KeptService, type NamespaceUnit, type ServiceUnit, ServiceUnits } from './service-units.ts';

export interface ModelOptions {
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** Whether services with cluster IPs and no ready endpoint have no names. */
  readonly ignoresEmptyServices: boolean;
  /** Apexes at or below `in-addr.arpa.` and `ip6.arpa.`. */
  readonly reverseZones: readonly NameKey[];
  /** The addresses of this machine: to find the service that clients reach us by, or as a fallback if there is no such service. */
  readonly ownAddresses: readonly string[];
}

/** A service with more Endpoints objects is derived incrementally. A slice has 100 endpoints by default. */
const MAX_OBJECTS = 4;

const NOTHING: DerivedService = { nodes: [], reverse: [] };

export class ClusterModel implements ClusterDirectory {
  readonly options: ModelOptions;
  readonly units = new ServiceUnits();
  readonly reverse: ReverseIndex;
  readonly podIndex = new PodIndex();
  readonly recent = new RecentObjects();
  /** Whether endpoints are known; until then a headless service would have too few of them. */
  endpointsKnown = false;
  #zones: readonly Zone[] = [];
  #ownNodes: ReadonlyMap<NameKey, ZoneNode> = new Map();

  constructor(options: ModelOptions) {
    this.options = options;
    this.reverse = new ReverseIndex(options.ttl);
    this.renewZones(0);
  }

  /** A service with its endpoints; undefined if it does not exist, or its names cannot be labels. */
  view(namespace: string, service: string): ServiceView | undefined {
    const unit = this.units.find(namespace, service);
    // For a service with many endpoints, the view that the table has: it is updated within moments.
    return unit && (unit.kept?.view ?? this.viewOf(unit));
  }

  viewOf(unit: ServiceUnit): ServiceView | undefined {
    return completeSteps(this.viewInSteps(unit));
  }

  *viewInSteps(unit: ServiceUnit): Steps<ServiceView | undefined> {
    const { domain, ttl, ignoresEmptyServices } = this.options;
    if (unit.service === undefined || !isLabel(unit.name)) return undefined;
    const parent = this.namespaceName(unit.namespace.name);
    const name = parent && nameBelow(unit.name, parent);
    if (name === undefined) return undefined;
    const service = this.recent.take<ServiceObject>(unit.service);
    const about = { name, service, ttl, domain, ignoresEmptyServices };
    if (unit.endpoints.length > MAX_OBJECTS) {
      const { endpoints } = this.#keep(unit);
      yield* endpoints.update(() => unit.endpoints, this.#readEndpoints);
      return { ...about, endpoints: endpoints.endpoints, keptGroups: endpoints.groups };
    }
    unit.kept = undefined;
    const endpoints = mergeEndpoints(unit.endpoints.map(this.#readEndpoints));
    return { ...about, endpoints, keptGroups: undefined };
  }

  readonly #readEndpoints = (line: ObjectLine): readonly Endpoint[] =>
    endpointsOf(this.recent.take<EndpointsObject>(line));

  /** Keeps the endpoints of a service with many objects, so that unchanged objects are not read again. */
  #keep(unit: ServiceUnit): KeptService {
    const endpoints = () => new EndpointIndex(this.options.dialect.endpointLabel);
    unit.kept ??= { endpoints: endpoints(), nodes: undefined, view: undefined };
    return unit.kept;
  }

  /** `namespace.svc.<domain>`, if the namespace can be a label. */
  namespaceName(namespace: string): NameKey | undefined {
    return isLabel(namespace) ? nameBelow(`${namespace}.svc`, this.options.domain) : undefined;
  }

  derive(view: ServiceView | undefined): DerivedService {
    return completeSteps(this.deriveInSteps(view));
  }

  *deriveInSteps(view: ServiceView | undefined): Steps<DerivedService> {
    if (view === undefined) return NOTHING;
    if (view.service.address.kind === 'headless' && !this.endpointsKnown) return NOTHING;
    return yield* this.options.dialect.derive(view);
  }

  get pods(): PodMode {
    return this.options.pods;
  }

  get ttl(): number {
    return this.options.ttl;
  }

  hasPod(namespace: string, address: string): boolean {
    return this.podIndex.has(namespace, address);
  }

  namespaceExists(namespace: string): boolean {
    const unit = this.units.findNamespace(namespace);
    return unit !== undefined && this.isServed(unit);
  }

  /** Whether a namespace exists, by the rules of the dialect. */
  isServed(unit: NamespaceUnit): boolean {
    if (!isLabel(unit.name)) return false;
    return unit.live > 0 || (unit.hasObject && this.options.dialect.usesNamespaces);
  }

  *namespaces(): Iterable<string> {
    for (const { name } of this.units.namespaces()) yield name;
  }

  services(namespace: string): Iterable<string> {
    return this.units.findNamespace(namespace)?.services.keys() ?? [];
  }

  externalNames(namespace: string): Iterable<string> {
    return this.units.findNamespace(namespace)?.externalNames ?? [];
  }

  /** The zones, the cluster's domain first. */
  get zones(): readonly Zone[] {
    return this.#zones;
  }

  /** The nodes of the zones themselves, for each zone its apex first. */
  get ownNodes(): ReadonlyMap<NameKey, ZoneNode> {
    return this.#ownNodes;
  }

  /**
   * Remakes the zones, with a new serial number and the current addresses of the name servers.
   *
   * @param serial seconds since the epoch
   */
  renewZones(serial: number): void {
    const { domain, ttl, pods, dialect, reverseZones } = this.options;
    const view: ZoneView = { domain, ttl, pods, nameservers: this.#nameservers(), serial };
    this.#zones = [domain, ...reverseZones].map((apex) => dialect.zone(apex, view));
    const nodes = this.#zones.flatMap((zone) => dialect.apexNodes(zone, view));
    this.#ownNodes = new Map(nodes.map((node) => [node.name, node]));
  }

  /** The addresses of the services that have this machine as endpoint; otherwise the machine's own. */
  #nameservers(): readonly string[] {
    const own = canonicalAddresses(this.options.ownAddresses);
    const found = own.flatMap((address) =>
      this.reverse
        .namesOf(address)
        .flatMap(({ target, isService }) => (isService ? [] : this.#addressesOf(target))),
    );
    return found.length > 0 ? canonicalAddresses(found) : own;
  }

  /** @param endpoint the name of an endpoint */
  #addressesOf(endpoint: NameKey): readonly string[] {
    const [, service = '', namespace = ''] = endpoint.split('.');
    const view = this.view(namespace, service);
    if (view === undefined) return [];
    const { address } = view.service;
    return address.kind === 'clusterIPs' ? address.addresses : view.endpoints.map((one) => one.address);
  }
}
