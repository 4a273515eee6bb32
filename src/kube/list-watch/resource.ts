/**
 * The kinds of object that DNS is made from: under which paths they are listed, and how they are trimmed.
 */
import type {
  ConfigMapObject,
  EndpointsObject,
  NamespaceObject,
  NodeObject,
  PodObject,
  ServiceObject,
  WatchedObject,
} from '../objects.ts';
import { trimConfigMap } from '../trim/trim-config-map.ts';
import { trimEndpointSlice } from '../trim/trim-endpoint-slice.ts';
import { trimEndpoints } from '../trim/trim-endpoints.ts';
import { trimNamespace } from '../trim/trim-namespace.ts';
import { trimNode } from '../trim/trim-node.ts';
import { trimPod } from '../trim/trim-pod.ts';
import { trimService } from '../trim/trim-service.ts';
import type { Trim } from '../trim/trimmed.ts';

export interface Resource<Kind extends WatchedObject> {
  readonly path: string;
  readonly trim: Trim<Kind>;
  /**
   * The name of the one object that is of interest, if there is one. It is read and watched with permissions for this name
   * alone: get and watch, no list.
   */
  readonly only?: string;
}

/** The ways to one kind of object, best first. A way that the server lacks or forbids is followed by the next. */
export type Ways<Kind extends WatchedObject> = readonly [Resource<Kind>, ...Resource<Kind>[]];

const endpoints: Resource<EndpointsObject> = { path: '/api/v1/endpoints', trim: trimEndpoints };

export const serviceWays: Ways<ServiceObject> = [{ path: '/api/v1/services', trim: trimService }];
export const namespaceWays: Ways<NamespaceObject> = [{ path: '/api/v1/namespaces', trim: trimNamespace }];
export const podWays: Ways<PodObject> = [{ path: '/api/v1/pods', trim: trimPod }];
export const nodeWays: Ways<NodeObject> = [{ path: '/api/v1/nodes', trim: trimNode }];
export const endpointsOnly: Ways<EndpointsObject> = [endpoints];
export const slicesThenEndpoints: Ways<EndpointsObject> = [
  { path: '/apis/discovery.k8s.io/v1/endpointslices', trim: trimEndpointSlice },
  { path: '/apis/discovery.k8s.io/v1beta1/endpointslices', trim: trimEndpointSlice },
  endpoints,
];

export function configMapWays(namespace: string, name: string): Ways<ConfigMapObject> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  return [{ path, trim: trimConfigMap, only: name }];
}
