/**
 * Where a source of objects puts what it lists.
 */
import type { ClusterSinks } from '../api/list-watch/cluster-watch.ts';
import type { Cluster } from './cluster.ts';

/** The sinks of the objects; kinds that the dialect does not need have none. */
export function toClusterSinks(cluster: Cluster): ClusterSinks {
  const { services, endpoints, namespaces, pods, neededKinds } = cluster;
  return {
    markIncomplete: (isIncomplete) => cluster.markIncomplete(isIncomplete),
    services,
    endpoints,
    namespaces: neededKinds.includes('Namespace') ? namespaces : undefined,
    pods: neededKinds.includes('Pod') ? pods : undefined,
  };
}
