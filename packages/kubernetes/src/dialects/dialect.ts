/**
 * A dialect of cluster DNS: which names exist and their answers, as in CoreDNS or kube-dns.
 *
 * A dialect holds no state. Its functions depend only on the objects of one service, or on the labels of a question.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import type { NamedTarget } from '../names/endpoint-targets.ts';
import type { Endpoint } from '../names/endpoints.ts';
import type { PodMode } from '../names/pods.ts';
import type { ReverseName } from '../names/reverse-name.ts';
import type { ServiceObject } from '../objects/objects.ts';

/** One service as the names of its domain are derived from it. */
export interface ServiceView {
  /** The service's own name, `service.namespace.svc.<domain>`. */
  readonly name: NameKey;
  readonly service: ServiceObject;
  readonly endpoints: readonly Endpoint[];
  /** Its endpoints that are names. */
  readonly targets: readonly NamedTarget[];
  /** Seconds. */
  readonly ttl: number;
  /** The cluster's domain. */
  readonly domain: NameKey;
  /** Whether a service with cluster IPs and no ready endpoint has no names. */
  readonly ignoresEmptyServices: boolean;
  readonly hasHttpsRecords: boolean;
  /** Types of records that are left out of all answers, and so of hints. */
  readonly filteredTypes: ReadonlySet<number>;
}

/** The names derived from one service. */
export interface DerivedService {
  /** Parents before children. Empty while the service has no names. */
  readonly nodes: readonly ZoneNode[];
  readonly reverse: readonly ReverseName[];
}

/** A name that leads to this server. */
export interface ServerName {
  readonly name: NameKey;
  /** Canonical. */
  readonly addresses: readonly string[];
}

/** Input for the zone's own names. */
export interface ZoneFacts {
  readonly domain: NameKey;
  readonly ttl: number;
  readonly pods: PodMode;
  /** Addresses that clients reach us at, canonical. */
  readonly nameservers: readonly string[];
  /** The names of services and endpoints that have these addresses; empty if no service has this machine as endpoint. */
  readonly serverNames: readonly ServerName[];
  /** Serial of the SOA record: time of the zone's last change in seconds since the epoch. */
  readonly serial: number;
}

/** Read access to the cluster's objects, for names that the table cannot hold. */
export interface ClusterDirectory {
  readonly pods: PodMode;
  /** Seconds. */
  readonly ttl: number;
  namespaces(): Iterable<string>;
  namespaceExists(namespace: string): boolean;
  /** The names of a namespace's services. */
  services(namespace: string): Iterable<string>;
  /** The names of its services of type ExternalName. */
  externalNames(namespace: string): Iterable<string>;
  view(namespace: string, service: string): ServiceView | undefined;
  /** Whether a pod of the namespace has this canonical address. Only valid if pods are verified. */
  hasPod(namespace: string, address: string): boolean;
}

/** The nodes of a service by name. */
export type NodeFinder = (name: NameKey) => ZoneNode | undefined;

export interface Dialect {
  readonly name: 'coredns' | 'kube-dns';
  /** Whether namespaces exist without services, and pods only in namespaces that exist. */
  readonly usesNamespaces: boolean;
  /** Whether answers have RA set even where no upstream is configured. */
  readonly recursionAvailable: boolean;
  /** The answer to questions of type ANY: as in RFC 8482 section 4.3, or NOTIMP. */
  readonly anyQuestions: 'minimal' | 'refused';
  /** Whether a label `*` in a question matches any label. */
  readonly hasWildcards: boolean;
  /** Whether we are the authority for all names of the reverse zones, or only for those that we hold. */
  readonly ownsReverseZones: boolean;

  zone(apex: NameKey, view: ZoneFacts): Zone;
  /** The nodes of a zone besides those of services and namespaces: the apex first. */
  apexNodes(zone: Zone, view: ZoneFacts): readonly ZoneNode[];
  derive(view: ServiceView): DerivedService;
  /** The node of an existing namespace. `name`: its name below `svc`. */
  namespaceNode(name: NameKey, namespace: string, directory: ClusterDirectory): ZoneNode;
  /**
   * A name below a service that is not among its nodes, but has an answer.
   *
   * @param labels those left of the service's name
   * @param findNode the service's nodes
   */
  nameBelowService(
    view: ServiceView,
    name: NameKey,
    labels: readonly string[],
    findNode: NodeFinder,
  ): ZoneNode | undefined;
  /** `namespace.pod.<domain>` as in the table; undefined if it is not there. */
  podNamespaceNode(name: NameKey, namespace: string, directory: ClusterDirectory): ZoneNode | undefined;
  /**
   * A name below `pod.<domain>` that is not in the table.
   *
   * @param labels those left of `pod`
   */
  podName(name: NameKey, labels: readonly string[], directory: ClusterDirectory): ZoneNode | undefined;
  /** A name with a label `*`. `labels`: those left of `svc`, or of a `*` in its place. */
  wildcardName(name: NameKey, labels: readonly string[], directory: ClusterDirectory): ZoneNode | undefined;
}
