/**
 * Kinds that are followed besides those that names are made from, each only where it is configured: one ConfigMap, nodes.
 */
import type { ConfigMapObject, NodeObject, ObjectSink } from '../../objects/objects.ts';
import type { ApiAccess } from './api-access.ts';
import { type Follower, Reflector } from './reflector.ts';
import { configMapVersions, nodeVersions } from './resource.ts';

/** Needs the permissions get and watch, for this name alone. */
export function followConfigMap(
  api: ApiAccess,
  namespace: string,
  name: string,
  sink: ObjectSink<ConfigMapObject>,
): Follower {
  return new Reflector('configmaps', configMapVersions(namespace, name), sink, api, () => {});
}

/** Needs the permissions list and watch. */
export function followNodes(api: ApiAccess, sink: ObjectSink<NodeObject>): Follower {
  return new Reflector('nodes', nodeVersions, sink, api, () => {});
}
