/**
 * The kinds of object that DNS is made from: under which paths they are listed, and how they are trimmed.
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
  /** With a query of its own where a part of the collection is followed: `/api/v1/nodes?labelSelector=a%3Db`. */
  readonly path: string;
  readonly trim: Trim<Kind>;
  /**
   * The name of the one object that is of interest, if there is one. It is read and watched with permissions for this name
   * alone: get and watch, no list.
   */
  readonly only?: string;
  /** What is missing under this API version, for people. */
  readonly lacks?: string;
}

/** The API versions of one kind of object, best first. Where the server lacks or forbids one, the next is used. */
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
/** Endpoints only where slices are not served or not allowed. */
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

/** The same objects, those alone that a label selector matches. */
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

/** A path, which may have a query, with more of one. */
export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const more = new URLSearchParams(query).toString();
  if (more === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${more}`;
}
