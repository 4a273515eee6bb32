/**
 * Kinds that names are not derived from, each followed only if configured: one ConfigMap, the places of nodes, their
 * capacities, or what a plugin of others asks for.
 */
import type {
  ConfigMapObject,
  NodeCapacityObject,
  NodeObject,
  NodeRangesObject,
  ObjectSink,
  OtherObject,
} from '../../objects/objects.ts';
import type { ReadOther } from '../../objects/trim/trim-other.ts';
import type { ApiAccess } from './api-access.ts';
import { ConnectionAttempt } from './attempt.ts';
import { ListWatchError } from './failure.ts';
import { PagedList } from './list-pages.ts';
import { type Follower, Reflector } from './reflector.ts';
import {
  configMapVersions,
  nodeCapacityVersions,
  nodeRangesVersions,
  nodeVersions,
  type OtherKind,
  otherVersions,
} from './resource.ts';

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
 * Needs the permissions list and watch, or get and watch for one node.
 *
 * @param name the only one that is followed; undefined: all
 */
export function followNodeRanges(
  api: ApiAccess,
  name: string | undefined,
  sink: ObjectSink<NodeRangesObject>,
): Follower {
  return new Reflector('nodes', nodeRangesVersions(name), sink, api, () => {});
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

/**
 * Any kind of object. Needs the permissions list and watch. A kind that the server does not have is tried again and again.
 *
 * @param read what to keep of an object
 * @param changed called after each change of the state of the watch
 */
export function followOther(
  api: ApiAccess,
  kind: OtherKind,
  read: ReadOther,
  sink: ObjectSink<OtherObject>,
  changed: () => void,
): Follower {
  return new Reflector(kind.resource, otherVersions(kind, read), sink, api, changed);
}

/** Lists all nodes once, for use without the permission to watch. @throws {ListWatchError} */
export async function listNodeCapacities(
  api: ApiAccess,
  labels: string,
): Promise<readonly NodeCapacityObject[]> {
  const attempt = new ConnectionAttempt(new AbortController().signal, api.clock);
  const nodes: NodeCapacityObject[] = [];
  try {
    const [{ path, trim }] = nodeCapacityVersions(labels);
    const list = new PagedList(path, { kind: 'any' }, api.clock.monotonic());
    await list.read(api, attempt, (item) => {
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
