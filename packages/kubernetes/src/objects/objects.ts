/**
 * The Kubernetes objects that DNS needs, trimmed to the needed fields, and the interface that receives them.
 *
 * `list-watch/` reads them from an API server and `sources/` from files; both pass them to one `ObjectSink` per kind.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export interface ServicePort {
  /** Empty for an unnamed port, which must be the service's only one. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** Of ports of services. Default: not known. */
  readonly appProtocol?: AppProtocol;
}

/** HTTP on a port, by `appProtocol`. `versions`: with TLS, those besides HTTP/1.1, by an annotation. */
export type AppProtocol =
  | { readonly kind: 'plain' }
  | { readonly kind: 'https'; readonly versions: readonly HttpVersion[] };

/** As in ALPN. */
export type HttpVersion = 'h2' | 'h3';

export interface ServiceObject {
  readonly kind: 'Service';
  readonly namespace: string;
  readonly name: string;
  readonly address:
    | { readonly kind: 'clusterIPs'; readonly addresses: readonly string[] }
    | { readonly kind: 'headless' }
    | { readonly kind: 'externalName'; readonly name: string };
  readonly ports: readonly ServicePort[];
  /** Whether its endpoints are the pods that it selects. Default: no. */
  readonly selects?: boolean;
  /** What its traffic prefers, by `trafficDistribution`: endpoints of the client's zone or node. Default: nothing. */
  readonly prefers?: 'zone' | 'node' | undefined;
  /** Addresses and names for clients outside the cluster: its external IPs, then its load balancer's. Default: none. */
  readonly external?: readonly string[];
  /** Whether clients of all tenants see it, by its annotation. Default: no. */
  readonly isShared?: boolean;
}

export interface EndpointAddress {
  readonly address: string;
  readonly hostname: string | undefined;
  /** The topology zone that it is in. Default: none is known. */
  readonly zone?: string;
  /** The node that it is on. Default: none is known. */
  readonly node?: string;
  /** The zones and the nodes that should use it, by hints. Default: none. */
  readonly hints?: EndpointHints;
}

export interface EndpointHints {
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

/** Ready addresses that share their ports: a subset of Endpoints, or the whole of an EndpointSlice. */
export interface EndpointGroup {
  readonly addresses: readonly EndpointAddress[];
  readonly ports: readonly ServicePort[];
  /** Endpoints that are not ready. Default: none. */
  readonly others?: readonly UnreadyAddress[];
  /** Endpoints that are names. Default: none. */
  readonly targets?: readonly EndpointTarget[];
}

/** A ready endpoint of a slice of `addressType: FQDN`: a name that others answer. Kubernetes deprecates this type. */
export interface EndpointTarget {
  readonly target: string;
  readonly hostname: string | undefined;
}

/** An endpoint that is not ready has no names. */
export interface UnreadyAddress {
  readonly address: string;
  readonly isTerminating: boolean;
}

/** An EndpointSlice (any version) or an Endpoints object. One service may have several. */
export interface EndpointsObject {
  readonly kind: 'Endpoints';
  readonly namespace: string;
  /** The object's own name. */
  readonly name: string;
  /** The service it belongs to: label `kubernetes.io/service-name`, or the name of the Endpoints object. */
  readonly service: string;
  readonly groups: readonly EndpointGroup[];
  /** The cluster of a cluster set that has the endpoints: their names are below its label. Default: names have no such label. */
  readonly cluster?: string;
  /** When the controller saw the cause of the last change, in RFC 3339 format. Not kept: objects that differ only in it are equal. */
  readonly changeTime?: string | undefined;
}

export interface NamespaceObject {
  readonly kind: 'Namespace';
  readonly name: string;
  /** Undefined: not read. */
  readonly labels?: ReadonlyMap<string, string>;
  /** Whether clients of all tenants see its services, by its annotation. Default: no. */
  readonly isShared?: boolean;
}

export interface PodObject {
  readonly kind: 'Pod';
  readonly namespace: string;
  readonly name: string;
  readonly addresses: readonly string[];
  /** Whether its addresses are those of its node. Default: no. */
  readonly isInNodeNetwork?: boolean;
  /** Undefined: not read. */
  readonly search?: PodSearch;
  /** Undefined: not read. */
  readonly labels?: ReadonlyMap<string, string>;
}

/** The search domains in the resolv.conf of a pod, as far as its specification determines them. */
export type PodSearch =
  /** Those of its namespace and its node, then `more`. */
  | { readonly kind: 'cluster'; readonly more: readonly string[] }
  | { readonly kind: 'own'; readonly domains: readonly string[] }
  /** Its address does not identify it, or its resolver searches otherwise. */
  | { readonly kind: 'unknown' };

/** A node's place. */
export interface NodeObject {
  readonly kind: 'Node';
  readonly name: string;
  readonly zone: string;
  readonly region: string;
}

/** Where the clients of a node are. */
export interface NodeRangesObject {
  readonly kind: 'NodeRanges';
  readonly name: string;
  /** Its topology zone; undefined: none is known. */
  readonly zone: string | undefined;
  /** The ranges of its pods, then its own addresses, each once. */
  readonly ranges: readonly AddressRange[];
}

/** A node's capacity. */
export interface NodeCapacityObject {
  readonly kind: 'NodeCapacity';
  readonly name: string;
  /** Ready and not cordoned. */
  readonly isSchedulable: boolean;
  /** Allocatable processors, in billionths. */
  readonly nanocores: bigint;
}

/** A ConfigMap, all its texts with their keys. */
export interface ConfigMapObject {
  readonly kind: 'ConfigMap';
  readonly namespace: string;
  readonly name: string;
  readonly data: ReadonlyMap<string, string>;
}

/** An object of a kind that a plugin of others follows, as far as the plugin has read it. */
export interface OtherObject {
  readonly kind: 'Other';
  readonly key: ObjectKey;
  readonly value: unknown;
}

/** The objects that names are derived from. */
export type ClusterObject = ServiceObject | EndpointsObject | NamespaceObject | PodObject;
export type ObjectKind = ClusterObject['kind'];

/** All objects that can be followed on an API server. */
export type WatchedObject =
  | ClusterObject
  | NodeObject
  | NodeRangesObject
  | NodeCapacityObject
  | ConfigMapObject
  | OtherObject;

/** `namespace/name`, or the bare name of an object without namespace. */
export type ObjectKey = string;

export function keyOfObject(object: WatchedObject): ObjectKey {
  if (object.kind === 'Other') return object.key;
  return 'namespace' in object ? `${object.namespace}/${object.name}` : object.name;
}

/**
 * Receives the objects of one kind. Calls come in order from one list and watch at a time:
 * `listStarted`, `upsert`..., `listCompleted`, then `upsert` and `remove` as events arrive. After a list that breaks off,
 * another `listStarted` follows; the sink keeps all earlier objects until `listCompleted`.
 */
export interface ObjectSink<Kind extends WatchedObject> {
  listStarted(): void;
  upsert(object: Kind): void;
  /** Objects not seen since `listStarted` are gone. */
  listCompleted(): void;
  remove(key: ObjectKey): void;
  /** Number of objects held, for the server check. */
  count(): number;
  /** Whether it takes objects that are valid only during the call, which cost less. Default: no. */
  readonly takesDrafts?: boolean;
}
