/**
 * What is followed beside the objects that names are made from, each only where somebody needs it: one ConfigMap, nodes.
 */
import type { ConfigMapObject, NodeObject, ObjectSink } from '../objects.ts';
import type { ApiAccess } from './api-access.ts';
import { type Follower, Reflector } from './reflector.ts';
import { configMapWays, nodeWays } from './resource.ts';

/** Needs the permissions get and watch, for this name alone. */
export function followConfigMap(
  api: ApiAccess,
  namespace: string,
  name: string,
  sink: ObjectSink<ConfigMapObject>,
): Follower {
  return new Reflector('configmaps', configMapWays(namespace, name), sink, api, () => {});
}

/** Needs the permissions list and watch. */
export function followNodes(api: ApiAccess, sink: ObjectSink<NodeObject>): Follower {
  return new Reflector('nodes', nodeWays, sink, api, () => {});
}
