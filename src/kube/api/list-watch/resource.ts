/**
 * The kinds of object that DNS needs: their paths on the API server and their trim functions.
 */
import type {
  ConfigMapObject,
  EndpointsObject,
  NamespaceObject,
  NodeCapacityObject,
  NodeObject,
  PodObject,
  ServiceObject,
  WatchedObject,
} from '../../objects/objects.ts';
import { trimConfigMap } from '../../objects/trim/trim-config-map.ts';
import { trimEndpointSlice, trimEndpointSliceOfPods } from '../../objects/trim/trim-endpoint-slice.ts';
import { trimEndpoints } from '../../objects/trim/trim-endpoints.ts';
import { trimNamespace } from '../../objects/trim/trim-namespace.ts';
import { trimNode } from '../../objects/trim/trim-node.ts';
import { trimNodeCapacity } from '../../objects/trim/trim-node-capacity.ts';
import { trimPod } from '../../objects/trim/trim-pod.ts';
import { trimService } from '../../objects/trim/trim-service.ts';
import type { Trim } from '../../objects/trim/trimmed.ts';

export interface Resource<Kind extends WatchedObject> {
  /** May have a query that selects a part of the collection: `/api/v1/nodes?labelSelector=a%3Db`. */
  readonly path: string;
  readonly trim: Trim<Kind>;
  /**
   * The name of the object, if only one is followed. It is read and watched with permissions for only this name: get and
   * watch, not list.
   */
  readonly only?: string;
  /** Features missing in this API version, for messages. */
  readonly lacks?: string;
}

/** The API versions of one kind of object, best first. If the server lacks or forbids one, the next is used. */
export type ApiVersions<Kind extends WatchedObject> = readonly [Resource<Kind>, ...Resource<Kind>[]];

const endpoints: Resource<EndpointsObject> = {
  path: '/api/v1/endpoints',
  trim: trimEndpoints,
  lacks: 'the second address family of dual-stack services, addresses beyond 1,000',
};

export const serviceVersions: ApiVersions<ServiceObject> = [{ path: '/api/v1/services', trim: trimService }];
export const namespaceVersions: ApiVersions<NamespaceObject> = [
  { path: '/api/v1/namespaces', trim: trimNamespace },
];
export const podVersions: ApiVersions<PodObject> = [{ path: '/api/v1/pods', trim: trimPod }];
export const nodeVersions: ApiVersions<NodeObject> = [{ path: '/api/v1/nodes', trim: trimNode }];
/** Endpoints only if slices are not served or not allowed. */
export const endpointsVersions: ApiVersions<EndpointsObject> = [
  { path: '/apis/discovery.k8s.io/v1/endpointslices', trim: trimEndpointSlice },
  { path: '/apis/discovery.k8s.io/v1beta1/endpointslices', trim: trimEndpointSlice },
  endpoints,
];

/** Endpoints without a hostname are named after their pods. */
export const endpointsOfPodsVersions: ApiVersions<EndpointsObject> = [
  { path: '/apis/discovery.k8s.io/v1/endpointslices', trim: trimEndpointSliceOfPods },
  { path: '/apis/discovery.k8s.io/v1beta1/endpointslices', trim: trimEndpointSliceOfPods },
  endpoints,
];

/** The same versions, with only the objects that a label selector matches. */
export function selectVersions<Kind extends WatchedObject>(
  versions: ApiVersions<Kind>,
  labelSelector: string | undefined,
): ApiVersions<Kind> {
  if (labelSelector === undefined) return versions;
  const [first, ...others] = versions;
  const select = (resource: Resource<Kind>): Resource<Kind> => ({
    ...resource,
    path: withQuery(resource.path, { labelSelector }),
  });
  return [select(first), ...others.map(select)];
}

export function configMapVersions(namespace: string, name: string): ApiVersions<ConfigMapObject> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  return [{ path, trim: trimConfigMap, only: name }];
}

/** @param labels a label selector; empty for all nodes */
export function nodeCapacityVersions(labels: string): ApiVersions<NodeCapacityObject> {
  const query = labels === '' ? {} : { labelSelector: labels };
  return [{ path: withQuery('/api/v1/nodes', query), trim: trimNodeCapacity }];
}

/** Adds a query to a path that may already have one. */
export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const more = new URLSearchParams(query).toString();
  if (more === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${more}`;
}
