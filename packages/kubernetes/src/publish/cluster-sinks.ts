/**
 * Where a source of objects puts what it lists.
 */
import type { ClusterSinks } from '../api/list-watch/cluster-watch.ts';
import { bothSinks } from '../objects/both-sinks.ts';
import type { ObjectSink, WatchedObject } from '../objects/objects.ts';
import type { Cluster } from './cluster.ts';

/** The sinks of the objects; kinds that the dialect does not need have none. */
export function toClusterSinks(cluster: Cluster): ClusterSinks {
  const { services, endpoints, namespaces, pods, neededKinds, tenants } = cluster;
  return {
    markIncomplete: (isIncomplete) => cluster.markIncomplete(isIncomplete),
    services: joinSinks(services, tenants?.services),
    endpoints,
    namespaces: neededKinds.includes('Namespace') ? joinSinks(namespaces, tenants?.namespaces) : undefined,
    pods: neededKinds.includes('Pod') ? joinSinks(pods, tenants?.pods) : undefined,
  };
}

/** @param second undefined: there is only the first */
export function joinSinks<Kind extends WatchedObject>(
  first: ObjectSink<Kind>,
  second: ObjectSink<Kind> | undefined,
): ObjectSink<Kind> {
  return second === undefined ? first : bothSinks(first, second);
}
