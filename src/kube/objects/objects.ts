/**
 * The Kubernetes objects that DNS is made from, trimmed to the fields it needs, and the way they arrive.
 *
 * `list-watch/` reads them from an API server and `sources/` from files; both hand them to one `ObjectSink` per kind.
 */
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export interface ServicePort {
  /** Empty for the only port of a service that has no name. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

export interface ServiceObject {
  readonly kind: 'Service';
  readonly namespace: string;
  readonly name: string;
  readonly address:
    | { readonly kind: 'clusterIPs'; readonly addresses: readonly string[] }
    | { readonly kind: 'headless' }
    | { readonly kind: 'externalName'; readonly name: string };
  readonly ports: readonly ServicePort[];
}

export interface EndpointAddress {
  readonly address: string;
  readonly hostname: string | undefined;
}

/** Ready addresses that share their ports: a subset of Endpoints, or the whole of an EndpointSlice. */
export interface EndpointGroup {
  readonly addresses: readonly EndpointAddress[];
  readonly ports: readonly ServicePort[];
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
  /** When the controller saw the cause of the last change, as RFC 3339 has it. It is not kept: objects that differ in it alone are equal. */
  readonly changeTime?: string | undefined;
}

export interface NamespaceObject {
  readonly kind: 'Namespace';
  readonly name: string;
}

export interface PodObject {
  readonly kind: 'Pod';
  readonly namespace: string;
  readonly name: string;
  readonly addresses: readonly string[];
}

/** A node: where it stands. */
export interface NodeObject {
  readonly kind: 'Node';
  readonly name: string;
  readonly zone: string;
  readonly region: string;
}

/** A node: what it can run. */
export interface NodeCapacityObject {
  readonly kind: 'NodeCapacity';
  readonly name: string;
  /** Ready and not cordoned. */
  readonly isSchedulable: boolean;
  /** Billionths of the processors that pods may use. */
  readonly nanocores: bigint;
}

/** A ConfigMap, all its texts with their keys. */
export interface ConfigMapObject {
  readonly kind: 'ConfigMap';
  readonly namespace: string;
  readonly name: string;
  readonly data: ReadonlyMap<string, string>;
}

/** What names are made from. */
export type ClusterObject = ServiceObject | EndpointsObject | NamespaceObject | PodObject;
export type ObjectKind = ClusterObject['kind'];

/** All that is followed on an API server. */
export type WatchedObject = ClusterObject | NodeObject | NodeCapacityObject | ConfigMapObject;

/** `namespace/name`, or the bare name of an object without namespace. */
export type ObjectKey = string;

export function keyOfObject(object: WatchedObject): ObjectKey {
  return 'namespace' in object ? `${object.namespace}/${object.name}` : object.name;
}

/**
 * Where the objects of one kind go. Calls come in order from one list and watch at a time:
 * `listStarted`, `upsert`..., `listCompleted`, then `upsert` and `remove` as events arrive. A list that breaks off is
 * followed by another `listStarted`; until `listCompleted` nothing that was held before is forgotten.
 */
export interface ObjectSink<Kind extends WatchedObject> {
  listStarted(): void;
  upsert(object: Kind): void;
  /** Objects not seen since `listStarted` are gone. */
  listCompleted(): void;
  remove(key: ObjectKey): void;
  /** How many objects are held, for the check against the server. */
  count(): number;
}
