/**
 * Kinds that names are not derived from, each followed only if configured: one ConfigMap, the places of nodes, or their
 * capacities.
 */
import type { ConfigMapObject, NodeCapacityObject, NodeObject, ObjectSink } from '../../objects/objects.ts';
import type { ApiAccess } from './api-access.ts';
import { Attempt } from './attempt.ts';
import { ListWatchError } from './failure.ts';
import { listAll } from './list-pages.ts';
import { type Follower, Reflector } from './reflector.ts';
import { configMapVersions, nodeCapacityVersions, nodeVersions } from './resource.ts';

/**
 * Needs the permissions get and watch, only for this name.
 *
 * @param changed called after each change of the state of the watch
 */
export function followConfigMap(
  api: ApiAccess,
  namespace: string,
  name: string,
  sink: ObjectSink<ConfigMapObject>,
  changed: () => void = () => {},
): Follower {
  return new Reflector('configmaps', configMapVersions(namespace, name), sink, api, changed);
}

/** Needs the permissions list and watch. */
export function followNodes(api: ApiAccess, sink: ObjectSink<NodeObject>): Follower {
  return new Reflector('nodes', nodeVersions, sink, api, () => {});
}

/**
 * Needs the permissions list and watch.
 *
 * @param labels a label selector; empty for all nodes
 * @param changed called after each change of the state of the watch
 */
export function followNodeCapacities(
  api: ApiAccess,
  labels: string,
  sink: ObjectSink<NodeCapacityObject>,
  changed: () => void,
): Follower {
  return new Reflector('nodes', nodeCapacityVersions(labels), sink, api, changed);
}

/** Lists all nodes once, for use without the permission to watch. @throws {ListWatchError} */
export async function listNodeCapacities(
  api: ApiAccess,
  labels: string,
): Promise<readonly NodeCapacityObject[]> {
  const attempt = new Attempt(new AbortController().signal, api.clock);
  const nodes: NodeCapacityObject[] = [];
  try {
    const [{ path, trim }] = nodeCapacityVersions(labels);
    await listAll(api, path, { kind: 'any' }, attempt, (item) => {
      const trimmed = trim(item);
      if (trimmed.kind === 'object') nodes.push(trimmed.object);
    });
    return nodes;
  } catch (error) {
    throw new ListWatchError(attempt.explain(error));
  } finally {
    attempt.close();
  }
}
