/**
 * The kinds of object that DNS needs: their paths on the API server and their trim functions.
 */
import type {
  ConfigMapObject,
  EndpointsObject,
  NamespaceObject,
  NodeCapacityObject,
  NodeObject,
  NodeRangesObject,
  OtherObject,
  PodObject,
  ServiceObject,
  WatchedObject,
} from '../../objects/objects.ts';
import { trimConfigMap } from '../../objects/trim/trim-config-map.ts';
import { trimEndpointSlice, trimEndpointSliceOfPods } from '../../objects/trim/trim-endpoint-slice.ts';
import { trimEndpoints } from '../../objects/trim/trim-endpoints.ts';
import {
  trimImportedSlice,
  trimImportedSliceOfPods,
  trimServiceImport,
} from '../../objects/trim/trim-multicluster.ts';
import { trimLabelledNamespace, trimNamespace } from '../../objects/trim/trim-namespace.ts';
import { trimNode, trimNodeRanges } from '../../objects/trim/trim-node.ts';
import { trimNodeCapacity } from '../../objects/trim/trim-node-capacity.ts';
import { type ReadOther, trimOther } from '../../objects/trim/trim-other.ts';
import { trimPod, trimWholePod } from '../../objects/trim/trim-pod.ts';
import { trimService } from '../../objects/trim/trim-service.ts';
import type { Trim } from '../../objects/trim/trimmed.ts';
import { decodeService } from '../../records/decode-service.ts';
import {
  decodePlacedSlice,
  decodePlacedSliceOfPods,
  decodeSlice,
  decodeSliceOfPods,
} from '../../records/decode-slice.ts';

export interface Resource<Kind extends WatchedObject> {
  /** May have a query that selects a part of the collection: `/api/v1/nodes?labelSelector=a%3Db`. */
  readonly path: string;
  readonly trim: Trim<Kind>;
  /** As `trim`, for sinks that take drafts. */
  readonly draft?: Trim<Kind>;
  /**
   * The name of the object, if only one is followed. It is read and watched with permissions for only this name: get and
   * watch, not list.
   */
  readonly only?: string;
  /** The encoding to ask for. Default: Protocol Buffers, or JSON for a kind that the server does not have in them. */
  readonly accept?: 'application/json';
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

export const serviceVersions: ApiVersions<ServiceObject> = [
  { path: '/api/v1/services', trim: trimService, draft: decodeService },
];
export const namespaceVersions: ApiVersions<NamespaceObject> = [
  { path: '/api/v1/namespaces', trim: trimNamespace },
];
/** With their labels. */
export const labelledNamespaceVersions: ApiVersions<NamespaceObject> = [
  { path: '/api/v1/namespaces', trim: trimLabelledNamespace },
];
export const podVersions: ApiVersions<PodObject> = [{ path: '/api/v1/pods', trim: trimPod }];
/** With their search domains and labels. */
export const wholePodVersions: ApiVersions<PodObject> = [{ path: '/api/v1/pods', trim: trimWholePod }];
export const nodeVersions: ApiVersions<NodeObject> = [{ path: '/api/v1/nodes', trim: trimNode }];
/** Endpoints only if slices are not served or not allowed. */
export const endpointsVersions: ApiVersions<EndpointsObject> = [
  { path: '/apis/discovery.k8s.io/v1/endpointslices', trim: trimEndpointSlice, draft: decodeSlice },
  { path: '/apis/discovery.k8s.io/v1beta1/endpointslices', trim: trimEndpointSlice, draft: decodeSlice },
  endpoints,
];

/** Endpoints without a hostname are named after their pods. */
export const endpointsOfPodsVersions: ApiVersions<EndpointsObject> = [
  {
    path: '/apis/discovery.k8s.io/v1/endpointslices',
    trim: trimEndpointSliceOfPods,
    draft: decodeSliceOfPods,
  },
  {
    path: '/apis/discovery.k8s.io/v1beta1/endpointslices',
    trim: trimEndpointSliceOfPods,
    draft: decodeSliceOfPods,
  },
  endpoints,
];

/**
 * The same versions, with the zones and nodes of endpoints where the version has them.
 *
 * @param namesPods whether endpoints without a hostname are named after their pods
 */
export function placedVersions(namesPods: boolean): ApiVersions<EndpointsObject> {
  const [current, ...others] = namesPods ? endpointsOfPodsVersions : endpointsVersions;
  return [{ ...current, draft: namesPods ? decodePlacedSliceOfPods : decodePlacedSlice }, ...others];
}

/** Services that are imported from a cluster set. In JSON: a custom resource has no Protocol Buffers. */
export const serviceImportVersions: ApiVersions<ServiceObject> = [
  {
    path: '/apis/multicluster.x-k8s.io/v1beta1/serviceimports',
    trim: trimServiceImport,
    accept: 'application/json',
  },
  {
    path: '/apis/multicluster.x-k8s.io/v1alpha1/serviceimports',
    trim: trimServiceImport,
    accept: 'application/json',
  },
];

/** The endpoints of imported services. @param namesPods whether those without a hostname are named after their pods */
export const importedEndpointsVersions = (namesPods: boolean): ApiVersions<EndpointsObject> => [
  {
    path: '/apis/discovery.k8s.io/v1/endpointslices',
    trim: namesPods ? trimImportedSliceOfPods : trimImportedSlice,
  },
];

/** The same versions, decoded into drafts where that can be done. */
export function draftVersions<Kind extends WatchedObject>(versions: ApiVersions<Kind>): ApiVersions<Kind> {
  const [first, ...others] = versions;
  const draft = (resource: Resource<Kind>): Resource<Kind> => ({
    ...resource,
    trim: resource.draft ?? resource.trim,
  });
  return [draft(first), ...others.map(draft)];
}

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

/** @param name the only one that is followed; undefined: all */
export function nodeRangesVersions(name: string | undefined): ApiVersions<NodeRangesObject> {
  return [{ path: '/api/v1/nodes', trim: trimNodeRanges, ...(name !== undefined && { only: name }) }];
}

/** @param labels a label selector; empty for all nodes */
export function nodeCapacityVersions(labels: string): ApiVersions<NodeCapacityObject> {
  const query = labels === '' ? {} : { labelSelector: labels };
  return [{ path: withQuery('/api/v1/nodes', query), trim: trimNodeCapacity }];
}

/** A kind of object by its place in the API. */
export interface OtherKind {
  /** Empty for the core group. */
  readonly group: string;
  /** Best first. */
  readonly versions: readonly [string, ...string[]];
  /** As in paths: `ingresses`. */
  readonly resource: string;
  /** A label selector. Default: all objects. */
  readonly labels?: string | undefined;
}

/** In JSON: we have no schema of their Protocol Buffers. */
export function otherVersions(
  { group, versions, resource, labels }: OtherKind,
  read: ReadOther,
): ApiVersions<OtherObject> {
  const inVersion = (version: string): Resource<OtherObject> => {
    const parts = [...(group === '' ? ['api'] : ['apis', group]), version, resource];
    const path = `/${parts.map(encodeURIComponent).join('/')}`;
    return { path, trim: (raw) => trimOther(raw, read), accept: 'application/json' };
  };
  const [best, ...others] = versions;
  return selectVersions([inVersion(best), ...others.map(inVersion)], labels);
}

/** Adds a query to a path that may already have one. */
export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const more = new URLSearchParams(query).toString();
  if (more === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${more}`;
}
