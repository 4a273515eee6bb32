/**
 * What the two families of cluster DNS do differently: which names there are, and what they answer.
 *
 * Everything here is a pure function of the objects of one service, or of a question's labels.
 */
import type { NameKey } from '../wire/types.ts';
import type { ZoneNode } from '../zone/node.ts';
import type { NamedSet, RecordSet } from '../zone/record-set.ts';
import type { Zone } from '../zone/zone.ts';
import type { Endpoint } from './endpoints.ts';
import type { ServiceObject } from './objects.ts';
import type { PodMode } from './pods.ts';

/** One service as the names of its domain are derived from it. */
export interface ServiceView {
  /** The service's own name, `service.namespace.svc.<domain>`. */
  readonly name: NameKey;
  readonly service: ServiceObject;
  readonly endpoints: readonly Endpoint[];
  /** Seconds. */
  readonly ttl: number;
  /** The cluster's domain. */
  readonly domain: NameKey;
}

/** A name that an address leads back to. */
export interface ReverseName {
  /** Canonical. */
  readonly address: string;
  readonly target: NameKey;
  /** Names of services go before names of endpoints. */
  readonly isService: boolean;
}

/** What comes of one service. */
export interface DerivedService {
  /** Those above first. None at all while the service has nothing to answer. */
  readonly nodes: readonly ZoneNode[];
  readonly reverse: readonly ReverseName[];
}

/** What the zone's own names are made from. */
export interface ZoneView {
  readonly domain: NameKey;
  readonly ttl: number;
  readonly pods: PodMode;
  /** Addresses that clients reach us at, canonical. */
  readonly nameservers: readonly string[];
  /** Of the SOA record: seconds since the epoch when the zone changed last. */
  readonly serial: number;
}

/** The services of a namespace or of all, as names that no table can hold are derived from them. */
export interface ServiceDirectory {
  namespaces(): Iterable<string>;
  /** The names of a namespace's services. */
  services(namespace: string): Iterable<string>;
  /** Those of them that are of type ExternalName. */
  externalNames(namespace: string): Iterable<string>;
  view(namespace: string, service: string): ServiceView | undefined;
}

export interface Dialect {
  readonly name: 'coredns' | 'kube-dns';
  /** Whether namespaces exist without services, and pods only in namespaces that exist. */
  readonly usesNamespaces: boolean;
  readonly recursionAvailable: boolean;
  /** Whether a label `*` in a question stands for any. */
  readonly hasWildcards: boolean;
  /** Whether we are the authority for all names of the reverse zones, or for those alone that we hold. */
  readonly ownsReverseZones: boolean;

  zone(apex: NameKey, view: ZoneView): Zone;
  /** The nodes of a zone besides what services make: the apex first. */
  apexNodes(zone: Zone, view: ZoneView): readonly ZoneNode[];
  derive(view: ServiceView): DerivedService;
  /** The node of an existing namespace. `name`: its name below `svc`. */
  namespaceNode(name: NameKey, namespace: string, directory: ServiceDirectory): ZoneNode;
  /**
   * A name below a service that is not among its nodes, but answered all the same.
   *
   * @param labels those left of the service's name
   * @param nodeOf the service's nodes
   */
  nameBelowService(
    view: ServiceView,
    name: NameKey,
    labels: readonly string[],
    nodeOf: ReadonlyMap<NameKey, ZoneNode>,
  ): ZoneNode | undefined;
  /** The address that a pod's name has in it; nothing: no such name. */
  podAddress(label: string): string | undefined;
  /** The SRV set at a pod's name, as a list: empty where there is none. */
  podServices(name: NameKey, addresses: readonly NamedSet[], ttl: number): readonly RecordSet[];
  /** A name with a label `*`. `labels`: those left of `svc`, or of a `*` in its place. */
  wildcardName(name: NameKey, labels: readonly string[], directory: ServiceDirectory): ZoneNode | undefined;
}
